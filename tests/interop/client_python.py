"""The official Python SDK's client against a gateway before everything.mjs; the policy of the caller denies the tool `denied`.

  client_python.py http URL TOKENFILE FOLDER
  client_python.py stdio FOLDER COMMAND ARGUMENT...

Prints "ok: WHAT" or "FAILED: WHAT: why" for each check. FOLDER is a place for files that the tool `held` looks at.
"""

import os
import sys
import warnings

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

AT_ONCE = 5  # seconds; far below every timeout of the SDK, so that a client which waits for nothing is told from one that was answered
failed = 0


async def check(what, function, *arguments):
    global failed
    try:
        with anyio.fail_after(4 * AT_ONCE):
            await function(*arguments)
        print("ok:", what, flush=True)
    except Exception as error:
        failed += 1
        print(f"FAILED: {what}: {type(error).__name__}: {str(error)[:200]}", flush=True)


def expect(truth, why):
    if not truth:
        raise AssertionError(why)


async def refused(call, code, error_code=None):
    """The call is answered, soon, with an error that says no more than its code."""
    try:
        with anyio.fail_after(AT_ONCE):
            await call
    except MCPError as error:
        expect(error.code == code, f"code {error.code}, not {code}: {error.message}")
        expect(error_code is None or (error.data or {}).get("error_code") == error_code, f"data {error.data}")
        return
    raise AssertionError("it was not refused")


class Http:
    """What one client over HTTP did, seen below the SDK."""

    def __init__(self, url, token):
        self.url, self.session, self.deleted = url, None, None
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        hooks = {"response": [self.saw]}
        self.http = httpx2.AsyncClient(headers=headers, event_hooks=hooks, timeout=4 * AT_ONCE)

    async def saw(self, response):
        self.session = response.headers.get("mcp-session-id", self.session)
        if response.request.method == "DELETE":
            self.deleted = response.status_code

    def client(self):
        return Client(streamable_http_client(self.url, http_client=self.http))


async def initialized(client):
    expect(client.protocol_version in ("2025-11-25", "2025-06-18", "2025-03-26"), client.protocol_version)
    expect(client.server_info is not None and client.server_info.name, "the server has no name")
    expect(client.server_capabilities.tools is not None, "no tools are offered")
    for what in ("resources", "prompts", "logging", "completions"):
        expect(getattr(client.server_capabilities, what) is None, f"{what} are offered")


async def pinged(client):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        await client.send_ping()


async def listed(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    expect("echo" in tools and "test_simple_text" in tools, f"only {sorted(tools)}")
    expect(tools["echo"].description == "Gives its argument back.", "the description differs")
    expect(tools["echo"].input_schema["required"] == ["words"], "the schema differs")


async def allowed(client, words="\u00e9\U0001f600 and \"quotes\"\n"):
    result = await client.call_tool("echo", {"words": words})
    expect(not result.is_error and result.content[0].text == words, "the answer differs")


async def failed_tool(client):
    result = await client.call_tool("test_error_handling")
    expect(result.is_error and result.content[0].text, "the tool's own error was lost")


async def mixed(client):
    kinds = [part.type for part in (await client.call_tool("test_multiple_content_types")).content]
    expect(kinds == ["text", "image", "resource"], kinds)


async def progressed(client):
    seen = []

    async def progress(now, total, message):
        seen.append((now, total))

    await client.call_tool("test_tool_with_progress", progress_callback=progress)
    expect(seen == [(0, 100), (50, 100), (100, 100)], seen)


async def holds(first, second, folder):
    """While one call waits, another is answered: of the same client, or of another one."""
    path = os.path.join(folder, "held")
    open(path, "w").close()
    ended = []

    async def wait():
        result = await first.call_tool("held", {"file": path})
        ended.append(result.content[0].text)

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        try:
            with anyio.fail_after(AT_ONCE):
                await allowed(second, "beside")
            expect(not ended, "the held call did not wait")
        finally:
            os.unlink(path)
    expect(ended == ["let go"], ended)


async def session_checks(client, folder):
    await check("initialize", initialized, client)
    await check("ping", pinged, client)
    await check("tools/list", listed, client)
    await check("a permitted call", allowed, client)
    await check("a long argument and answer", allowed, client, "x" * 200_000)
    await check("a denied call is an error at once", refused, client.call_tool("denied"), -32000, "POLICY_DENY")
    await check("a tool of no catalog is an error at once", refused, client.call_tool("nowhere"), -32000, "TOOL_NOT_IN_CATALOG")
    await check("a call after a denied one", allowed, client)
    await check("a tool's own error is a result", failed_tool, client)
    await check("text, image and resource", mixed, client)
    await check("progress", progressed, client)
    await check("two calls at once", holds, client, client, folder)
    await check("resources/list is not offered", refused, client.list_resources(), -32601)
    await check("prompts/list is not offered", refused, client.list_prompts(), -32601)


async def without(url, token):
    """Without the right token there is no session."""
    try:
        async with Http(url, token).client() as client:
            await client.list_tools()
    except Exception:
        return
    raise AssertionError("it was let in")


async def gone(url, token, session):
    async with httpx2.AsyncClient() as http:
        headers = {
            "Authorization": f"Bearer {token}",
            "Mcp-Session-Id": session,
            "Accept": "application/json, text/event-stream",
        }
        answer = await http.post(url, headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        expect(answer.status_code == 404, f"the closed session answers with {answer.status_code}")


async def over_http(url, token, folder):
    one, two = Http(url, token), Http(url, token)
    async with one.client() as client:
        await session_checks(client, folder)
        async with two.client() as other:
            await check("a second client", allowed, other)
            await check("two clients at once", holds, client, other, folder)
        expect(two.session != one.session, "both have one session")
        await check("the second client's session ends with DELETE", deleted, two)
        await check("the first client goes on", allowed, client)
    await check("the session ends with DELETE", deleted, one)
    await check("a session that ended is not found", gone, url, token, one.session)
    await check("no token", without, url, None)
    await check("a wrong token", without, url, token[:-1] + ("a" if token[-1] != "a" else "b"))


async def deleted(http):
    expect(http.session, "there was no session")
    expect(http.deleted is not None and 200 <= http.deleted < 300, f"DELETE was answered with {http.deleted}")


async def over_stdio(folder, command, arguments):
    server = StdioServerParameters(command=command, args=arguments)
    async with Client(server) as client:
        await session_checks(client, folder)


async def main():
    if sys.argv[1] == "http":
        url, token_file, folder = sys.argv[2:]
        with open(token_file) as file:
            await over_http(url, file.read().strip(), folder)
    else:
        await over_stdio(sys.argv[2], sys.argv[3], sys.argv[4:])


try:
    anyio.run(main)
except BaseException as error:
    print(f"FAILED: the client itself: {type(error).__name__}: {str(error)[:200]}")
    raise
sys.exit(1 if failed else 0)
