/* What the scripted server answers in the tests of core/http. */
#ifndef HARNESS_TESTS_UNIT_HTTP_ROUTES_H
#define HARNESS_TESTS_UNIT_HTTP_ROUTES_H

#include "tests/unit/http_server.h"

#define X16(text) text text text text text text text text text text text text text text text text
#define KILOBYTE X16(X16("abcd"))

static const struct route routes[] = {
	{ .request = "GET /plain?x=%20y",
	  .answer = "HTTP/1.1 200 OK\r\napi-version: 1.41\r\nContent-Type:  text/plain; charset=utf-8 \r\n"
		    "Server: Docker/20.10.24 (linux)\r\nX-Server: no\r\nContent-Length: 5\r\n\r\nhello" },
	{ .request = "GET /interim",
	  .answer = "HTTP/1.1 100 Continue\r\nServer: first\r\n\r\nHTTP/1.1 200 OK\r\nApi-Version: "
		    "1.41-and-much-longer\r\n"
		    "Content-Type: a\tb\r\nContent-Length: 0\r\n\r\n" },
	{ .request = "GET /long-headers",
	  .answer = "HTTP/1.1 200 OK\r\nX: " X16(KILOBYTE) "\r\nContent-Length: 0\r\n\r\n" },
	{ .request = "POST /long-headers", .answer = "HTTP/1.1 101 OK\r\nX: " X16(KILOBYTE) "\r\n\r\n" },
	{ .request = "GET /chunked",
	  .answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n" },
	{ .request = "GET /missing", .answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno" },
	{ .request = "GET /long-error",
	  .answer = "HTTP/1.1 500 Oops\r\nContent-Length: 20480\r\n\r\n" X16(KILOBYTE)
		  KILOBYTE KILOBYTE KILOBYTE KILOBYTE },
	{ .request = "GET /moved",
	  .answer = "HTTP/1.1 302 Found\r\nLocation: /missing-too\r\nContent-Length: 0\r\n\r\n" },
	{ .request = "GET /kilobytes", .answer = OK_HEAD(4096) KILOBYTE KILOBYTE KILOBYTE KILOBYTE },
	{ .request = "GET /garbage", .answer = "SSH-2.0-OpenSSH_9.2 and some more\r\n\r\n", .close = true },
	{ .request = "POST /garbage", .answer = "SSH-2.0-OpenSSH_9.2 and some more\r\n\r\n", .close = true },
	{ .request = "GET /nothing", .close = true },
	{ .request = "POST /nothing", .close = true },
	{ .request = "GET /cut", .answer = OK_HEAD(10) "123", .close = true },
	{ .request = "GET /cut-chunk",
	  .answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\none",
	  .close = true },
	{ .request = "GET /bad-chunk",
	  .answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\none",
	  .close = true },
	{ .request = "GET /status-600", .answer = "HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n" },
	{ .request = "POST /status-600", .answer = "HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n" },
	{ .request = "GET /http2", .answer = "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n", .close = true },
	{ .request = "POST /made", .answer = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}" },
	{ .request = "PUT /made", .answer = OK_HEAD(0) },
	{ .request = "DELETE /made", .answer = "HTTP/1.1 204 No Content\r\n\r\n" },
	{ .request = "HEAD /made", .answer = OK_HEAD(99) },
	{ .request = "GET /drops", .answer = OK_HEAD(2) "ok", .close = true },
	{ .request = "POST /drops", .answer = OK_HEAD(2) "ok", .close = true },
	{ .request = "GET /never" },
	{ .request = "POST /never" },
	{ .request = "GET /slow", .answer = OK_HEAD(4) "sl", .after = "GET /fast", .rest = "ow" },
	{ .request = "GET /fast", .answer = OK_HEAD(4) "fast" },
	{ .request = "POST /attach",
	  .answer =
		  "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\n"
		  "Upgrade: tcp\r\n\r\nearly",
	  .echo = true },
	{ .request = "POST /attach-missing",
	  .answer = "HTTP/1.1 404 Not Found\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\nNo such "
		    "container: x\n",
	  .close = true },
	{ .request = "POST /attach-open", .answer = "HTTP/1.1 409 Conflict\r\nContent-Length: 6\r\n\r\npaused" },
	{ .request = "POST /attach-plain", .answer = "HTTP/1.1 200 OK\r\n\r\nraw", .close = true },
	{ .request = "", .answer = "HTTP/1.1 418 Unscripted\r\nContent-Length: 0\r\n\r\n" },
};

#endif
