// One tools/call by the official SDK's client: call.mjs URL TOKENFILE TOOL ARGUMENTS. Prints the result or the error, as JSON.
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, tokenFile, name, args] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}` };
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const client = new Client({ name: 'interop', version: '1.0.0' });
await client.connect(transport);
try {
  console.log(JSON.stringify(await client.callTool({ name, arguments: JSON.parse(args) }, undefined, { timeout: 30_000 })));
} catch (error) {
  console.log(JSON.stringify({ error: { code: error.code, message: error.message, data: error.data } }));
}
await transport.terminateSession();
await client.close();
