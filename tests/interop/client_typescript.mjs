// The official TypeScript SDK's client against a gateway before everything.mjs; the policy of the caller denies the tool `denied`.
//
//   client_typescript.mjs http URL TOKENFILE FOLDER
//   client_typescript.mjs stdio FOLDER COMMAND ARGUMENT...
//
// Prints "ok: WHAT" or "FAILED: WHAT: why" for each check. FOLDER is a place for files that the tool `held` looks at.
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const AT_ONCE = 5000; // ms; far below the SDK's own timeout of a minute
let failed = 0;

function within(promise, ms) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function check(what, body) {
  try {
    await within(body(), 4 * AT_ONCE);
    console.log(`ok: ${what}`);
  } catch (error) {
    failed++;
    console.log(`FAILED: ${what}: ${String(error?.message ?? error).slice(0, 200)}`);
  }
}

function same(value, wanted) {
  if (!isDeepStrictEqual(value, wanted)) throw new Error(`${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`);
}

// The call is answered, soon, with an error. Over HTTP a refusal may have a status of its own; then the SDK's error is that
// of its transport, and the answer is in its text.
async function refused(call, code, errorCode) {
  let error;
  try {
    await within(call, AT_ONCE);
  } catch (thrown) {
    error = thrown;
  }
  if (!error) throw new Error('it was not refused');
  if (error.code === code && (!errorCode || error.data?.error_code === errorCode)) return;
  const body = String(error.message).match(/\{.*\}/s);
  const answer = body ? JSON.parse(body[0]).error : undefined;
  same([answer?.code, errorCode && answer?.data?.error_code], [code, errorCode]);
}

async function allowed(client, words = '\u00e9\u{1f600} and "quotes"\n') {
  const result = await client.callTool({ name: 'echo', arguments: { words } });
  same(result.content, [{ type: 'text', text: words }]);
}

// While one call waits, another is answered: of the same client, or of another one.
async function holds(first, second, folder) {
  const file = join(folder, 'held');
  writeFileSync(file, '');
  let ended = false;
  const wait = first.callTool({ name: 'held', arguments: { file } }).then((result) => {
    ended = true;
    return result;
  });
  try {
    await within(allowed(second, 'beside'), AT_ONCE);
    same(ended, false);
  } finally {
    unlinkSync(file);
  }
  same((await wait).content[0].text, 'let go');
}

async function sessionChecks(client, folder) {
  await check('initialize', async () => {
    const capabilities = client.getServerCapabilities();
    if (!client.getServerVersion().name) throw new Error('the server has no name');
    if (!capabilities.tools) throw new Error('no tools are offered');
    for (const what of ['resources', 'prompts', 'logging', 'completions']) same(capabilities[what], undefined);
  });
  await check('ping', async () => same(await client.ping(), {}));
  await check('tools/list', async () => {
    const echo = (await client.listTools()).tools.find((tool) => tool.name === 'echo');
    same([echo.description, echo.inputSchema.required], ['Gives its argument back.', ['words']]);
  });
  await check('a permitted call', () => allowed(client));
  await check('a long argument and answer', () => allowed(client, 'x'.repeat(200_000)));
  await check('a denied call is an error at once', () => refused(client.callTool({ name: 'denied' }), -32000, 'POLICY_DENY'));
  await check('a tool of no catalog is an error at once', () =>
    refused(client.callTool({ name: 'nowhere' }), -32000, 'TOOL_NOT_IN_CATALOG'),
  );
  await check('a call after a denied one', () => allowed(client));
  await check("a tool's own error is a result", async () =>
    same((await client.callTool({ name: 'test_error_handling' })).isError, true),
  );
  await check('text, image and resource', async () => {
    const result = await client.callTool({ name: 'test_multiple_content_types' });
    same(result.content.map((part) => part.type), ['text', 'image', 'resource']);
  });
  await check('progress', async () => {
    const seen = [];
    const onprogress = (progress) => seen.push([progress.progress, progress.total]);
    await client.callTool({ name: 'test_tool_with_progress' }, undefined, { onprogress });
    same(seen, [[0, 100], [50, 100], [100, 100]]);
  });
  await check('two calls at once', () => holds(client, client, folder));
  await check('resources/list is not offered', () => refused(client.listResources(), -32601));
  await check('prompts/list is not offered', () => refused(client.listPrompts(), -32601));
}

const newClient = () => new Client({ name: 'interop', version: '1.0.0' });

async function httpClient(url, token) {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  const client = newClient();
  await client.connect(transport);
  return { client, transport };
}

async function overHttp(url, token, folder) {
  const { client, transport } = await httpClient(url, token);
  const session = transport.sessionId;
  await sessionChecks(client, folder);
  const other = await httpClient(url, token);
  await check('a second client', () => allowed(other.client));
  await check('two clients at once', () => holds(client, other.client, folder));
  await check("the second client's session ends with DELETE", () => other.transport.terminateSession());
  await other.client.close();
  await check('the first client goes on', () => allowed(client));
  await check('the session ends with DELETE', async () => {
    const answer = await fetch(url, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${token}`, 'Mcp-Session-Id': session },
    });
    if (!answer.ok) throw new Error(`DELETE was answered with ${answer.status}`);
  });
  await check('a session that ended is not found', () =>
    client.listTools().then(
      () => Promise.reject(new Error('it was let in')),
      (error) => same(error.code, 404),
    ),
  );
  await client.close();
  for (const [what, other] of [['no token', undefined], ['a wrong token', `${token}x`]]) {
    await check(what, () =>
      httpClient(url, other).then(
        () => Promise.reject(new Error('it was let in')),
        (error) => same(error.code, 401),
      ),
    );
  }
}

const [kind, ...rest] = process.argv.slice(2);
if (kind === 'http') {
  const [url, tokenFile, folder] = rest;
  await overHttp(url, readFileSync(tokenFile, 'utf8').trim(), folder);
} else {
  const [folder, command, ...args] = rest;
  const client = newClient();
  await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));
  await sessionChecks(client, folder);
  await client.close();
}
process.exitCode = failed ? 1 : 0;
