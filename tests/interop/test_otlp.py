#!/usr/bin/env python3
"""Spans against the OpenTelemetry packages for Python: their exporter sends to our observer, and their message type reads
what our exporter sends. Run from the root of the tree, with BUILD as the folder of the programs (default: build). The
packages are in build/cmcp (ci/cmcp) or the caller's own Python; where they are not, the test skips itself by name, and with
CI=true it fails."""
import http.server
import os
import socket
import struct
import subprocess
import sys
import threading

PYTHON = os.path.abspath("build/cmcp/bin/python")
if os.access(PYTHON, os.X_OK) and not os.path.samefile(sys.prefix, "build/cmcp"):
    os.execv(PYTHON, [PYTHON, *sys.argv])

try:
    from google.protobuf import json_format
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import Status, StatusCode
except ImportError as missing:
    strict = os.environ.get("CI") == "true"
    print(f"test_otlp: {'failed' if strict else 'skipped'}: {missing.name} is not installed (ci/cmcp)")
    print(f"test_otlp: 0 passed, {int(strict)} failed, {int(not strict)} skipped")
    sys.exit(strict)

LIBEXEC = os.path.join(os.environ.get("BUILD", "build"), "libexec")
SECONDS = 10
CANARY = "canary-" + "abcdefghijklmnop" * 2

# observers/wire.h, as docs/observer-protocol.md describes it.
MESSAGE = struct.Struct("=HHI32s32s40sIIIHHH6xq")
RECORD = struct.Struct("=HHI32s32sIIII16s10q")
EXPECT, BEGIN, REPORT, STOP, BOUND, READY, RECORD_TYPE, END = 1, 2, 5, 6, 32, 33, 36, 37
AFTER = 1


def name(field):
    return field.split(b"\0")[0].decode()


class Observer:
    def __init__(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(SECONDS)
        self.wire = ours
        # The observer has its wire at descriptor 3.
        script = f'exec "$0" spans 3<&{theirs.fileno()}'
        self.process = subprocess.Popen(["/bin/sh", "-c", script, os.path.join(LIBEXEC, "observer-spans")],
                                        pass_fds=[theirs.fileno()])
        theirs.close()
        self.tell(EXPECT, subject="payload", canary=CANARY)
        self.tell(BEGIN)
        self.port = 0
        while True:
            message = self.take()
            if message[1] == BOUND:
                self.port = message[9]
            if message[1] == READY:
                break

    def tell(self, kind, subject="", canary="", phase=0):
        self.wire.send(MESSAGE.pack(1, kind, MESSAGE.size, subject.encode(), b"", canary.encode(), 0, phase, 0, 0, 0, 0,
                                    0))

    def take(self):
        packet = self.wire.recv(1024)
        if not packet:
            raise EOFError("the observer went away")
        return (RECORD if len(packet) == RECORD.size else MESSAGE).unpack(packet)

    def report(self):
        self.tell(REPORT, phase=AFTER)
        records = {}
        while True:
            message = self.take()
            if message[1] == END:
                return records
            if message[1] == RECORD_TYPE:
                records[name(message[4])] = {"value": message[10], "hits": message[14], "dropped": message[15]}

    def end(self):
        self.tell(STOP)
        self.wire.close()
        self.process.wait(SECONDS)


def sdk_to_observer(compression, spans, errors, dropped):
    observer = Observer()
    provider = TracerProvider()
    exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{observer.port}/v1/traces", compression=compression)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("interop")
    for number in range(700):
        with tracer.start_as_current_span(f"cmcp.{number}") as span:
            span.set_attribute("cmcp.sequence_number", number)
            if number % 7 == 0:
                span.set_status(Status(StatusCode.ERROR))
            if number == 5:
                span.set_attribute("cmcp.tool_name", CANARY)
    provider.shutdown()
    records = observer.report()
    observer.end()
    assert records["spans"]["value"] == spans, records
    assert records["spans-error"]["value"] == errors, records
    assert (records["spans"]["dropped"] > 0) == dropped, records
    if not dropped:
        assert records["payload"]["value"] == 1 and records["payload"]["hits"] == 1, records


def taken_whole():
    sdk_to_observer(Compression.NoCompression, 700, 100, False)


def compressed_is_refused_and_told():
    sdk_to_observer(Compression.Gzip, 0, 0, True)


def record(fields):
    body = struct.pack("<qqB", 1, 2, len(fields))
    for place, value in fields:
        value = struct.pack("<q", value) if isinstance(value, int) else value.encode()
        body += struct.pack("<BH", place, len(value)) + value
    return b"SPN1" + struct.pack("<I", len(body)) + body


def exporter_to_message():
    bodies = []

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *words):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    text = 'a "quoted" \u00e9\U0001f600\t\x01'
    records = record([(1, 7), (4, "tool_call"), (5, text), (7, "deny")]) + record([(4, "session_end")])
    exporter = subprocess.run([os.path.join(LIBEXEC, "otlp-export"), f"http://127.0.0.1:{server.server_port}", "interop"],
                              input=records, env={}, stdout=subprocess.PIPE, timeout=SECONDS, check=True)
    server.shutdown()
    assert exporter.stdout[-16:] == struct.pack("=QQ", 2, 0), exporter.stdout
    message = json_format.Parse(bodies[0], ExportTraceServiceRequest())
    resource = message.resource_spans[0]
    assert resource.resource.attributes[0].key == "service.name"
    assert resource.resource.attributes[0].value.string_value == "interop"
    deny, end = resource.scope_spans[0].spans
    assert (deny.name, deny.kind, deny.status.code) == ("cmcp.tool_call", 1, 2)
    assert (deny.start_time_unix_nano, deny.end_time_unix_nano) == (1, 2)
    values = {attribute.key: attribute.value for attribute in deny.attributes}
    assert values["cmcp.sequence_number"].int_value == 7
    assert values["cmcp.tool_name"].string_value == text
    assert (end.name, end.status.code, len(end.attributes)) == ("cmcp.session_end", 0, 1)


def main():
    failed = 0
    tests = [taken_whole, compressed_is_refused_and_told, exporter_to_message]
    for test in tests:
        try:
            test()
        except Exception as reason:  # each is a failure of this test, whatever it is
            failed += 1
            print(f"test_otlp: {test.__name__}: {type(reason).__name__}: {reason}")
    print(f"test_otlp: {len(tests) - failed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
