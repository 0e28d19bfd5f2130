#!/usr/bin/python3
"""A small MCP server over stdio, for the example: one tool reads what is confidential, the other publishes."""
import json
import sys

NONE = {"type": "object", "properties": {}}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = {
    "read_record": ("Reads the customer's record.", NONE, lambda arguments: "customer 17 owes 4200"),
    "publish": ("Publishes a text.", TEXT, lambda arguments: "published: " + arguments.get("text", "")),
}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "example", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [{"name": n, "description": d, "inputSchema": s} for n, (d, s, _) in TOOLS.items()]}
    if method == "tools/call":
        text = TOOLS[params["name"]][2](params.get("arguments", {}))
        return {"content": [{"type": "text", "text": text}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
