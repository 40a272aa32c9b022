"""A stand-in for the model behind a coding agent's program, on loopback, with an answer for each turn: it speaks the Messages
API and the Responses API as far as clients need them."""

import http.server
import json
import threading


def text(words):
    return {"type": "text", "text": words}


def call(tool, **arguments):
    return {"type": "tool_use", "name": tool, "input": arguments}


class Model:
    """Plays a list of turns, each one block of content; after the last it says "Done.". What the program sent is kept in
    `requests`; `results` has what tools answered, `said` all text that the program put before the model."""

    def __init__(self):
        self.turns, self.requests = [], []
        self.lock = threading.Lock()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self):
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_GET(self):
                self.answer(404, "application/json", b"{}")

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
                if self.path.startswith("/v1/responses"):
                    self.answer(200, "text/event-stream", responses(model.next_block(body)))
                    return
                if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
                    self.answer(200, "application/json", b'{"input_tokens": 1}')
                    return
                block = model.next_block(body)
                if body.get("stream"):
                    self.answer(200, "text/event-stream", stream(body, block))
                else:
                    self.answer(200, "application/json", json.dumps(message(body, [block])).encode())

            def answer(self, status, kind, data):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *ignored):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next_block(self, body):
        """Requests without tools (a title for the conversation, say) are none of the turns."""
        with self.lock:
            if not body.get("tools"):
                return text("ok")
            self.requests.append(body)
            turn = self.turns.pop(0) if self.turns else text("Done.")
            return turn(self) if callable(turn) else turn

    def play(self, *turns):
        self.turns, self.requests = list(turns), []

    def results(self):
        """What the tools answered, in their order, as text."""
        if self.requests and "input" in self.requests[-1]:
            return [flat(item["output"]) for item in self.requests[-1]["input"] if "output" in item]
        last = self.requests[-1]["messages"] if self.requests else []
        return [flat(block.get("content")) for m in last if isinstance(m["content"], list) for block in m["content"]
            if block.get("type") == "tool_result"]

    def said(self):
        """Everything the model was told, as one text."""
        if "input" in self.requests[-1]:
            return flat(self.requests[-1]["input"])
        return flat(self.requests[-1].get("system")) + flat([m["content"] for m in self.requests[-1]["messages"]])

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def flat(content):
    if isinstance(content, str):
        return content + "\n"
    if isinstance(content, list):
        return "".join(flat(item) for item in content)
    if isinstance(content, dict):
        return flat(content.get("text") or content.get("content") or "")
    return ""


def message(body, blocks):
    blocks = [dict(b, id=f"toolu_{id(b):x}") if b["type"] == "tool_use" else b for b in blocks]
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "content": blocks,
        "stop_reason": "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1}}


def stream(body, block):
    whole = message(body, [block])
    block, reason = whole["content"][0], whole["stop_reason"]
    if block["type"] == "tool_use":
        begin, delta = dict(block, input={}), {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        begin, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    events = [
        {"type": "message_start", "message": dict(whole, content=[], stop_reason=None)},
        {"type": "content_block_start", "index": 0, "content_block": begin},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def responses(block):
    """The same as events of the Responses API; "server/tool" is a tool of an MCP server."""
    if block["type"] == "tool_use":
        *namespace, name = block["name"].split("/")
        item = {"type": "function_call", "id": "fc_1", "call_id": f"call_{id(block):x}", "name": name,
            "arguments": json.dumps(block["input"]), **({"namespace": namespace[0]} if namespace else {})}
    else:
        item = {"type": "message", "role": "assistant", "id": "msg_1",
            "content": [{"type": "output_text", "text": block["text"]}]}
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
        "total_tokens": 2}
    events = [{"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}]
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()
