// Package httpd is the door for browsers and the command line: HTTP routes under /api, one WebSocket of events per
// window, and the files of the interface, on a loopback address.
//
// Who may come in. A browser exchanges the one-time token in its first URL for a cookie; the command line sends the
// token of core.token as a bearer. Host, Origin and Sec-Fetch-Site are checked before anything else, so that neither
// another page nor a rebound name reaches a handler. Nothing is answered without one of the two secrets.
//
// Windows. Core gives every tab an id and keeps what it is bound to (R-WS-120); a call of a browser is authorised
// against that, and the Workspace never comes from the client. A window keeps its identity for 30 s without its
// socket, which is what a reload takes; then its draft ends, and nothing else (R-WS-123).
//
// Events. Feed numbers events per Workspace. Each socket encodes for itself, writes what is there in one frame, and
// merges text that piled up; at low rates every event is its own frame and waits for nothing. A socket that cannot
// take its frames is cut and resumes; it never slows a producer.
//
// Errors leave as {"error": Failure} with the status of their code. Logs name routes, codes and sizes, never content.
//
// Parts. internal/windows keeps the tabs, internal/feed the numbered events, internal/wire their JSON, internal/page
// what a browser is shown; this package is the routes, the sockets and who may use them.
//
// Shutdown. Serve closes all sockets, lets requests in flight finish for a moment, and returns within four seconds.
package httpd
