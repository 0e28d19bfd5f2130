// Loaded into a client that cannot send a bearer token (node --import): every request that its process makes gets the token
// of the file $GATEWAY_TOKEN_FILE. All else of the request, Host and Origin included, stays as the client made it.
import { readFileSync } from 'node:fs';
import { Agent, setGlobalDispatcher } from 'undici';

const authorization = `Bearer ${readFileSync(process.env.GATEWAY_TOKEN_FILE, 'utf8').trim()}`;

function withToken(headers) {
  if (Array.isArray(headers)) return [...headers, 'authorization', authorization];
  if (headers && typeof headers[Symbol.iterator] === 'function') return [...headers, ['authorization', authorization]];
  return { ...headers, authorization };
}

setGlobalDispatcher(
  new Agent().compose((dispatch) => (options, handler) => dispatch({ ...options, headers: withToken(options.headers) }, handler)),
);
