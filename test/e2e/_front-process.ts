/**
 * The way to the API server, in a process of its own: passes bytes on. What ends with it is what ends when an API server dies
 * before its database does: every connection, every watch, and the answers under way; until it stands again nobody listens.
 */
import { connect, createServer, type Socket } from 'node:net';

const [, , target = '0', own = '0'] = process.argv;

const server = createServer((client) => {
  const upstream = connect(Number(target), '127.0.0.1');
  join(client, upstream);
  join(upstream, client);
});
server.listen(Number(own), '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  process.send?.({ type: 'ready', value: String(port) });
});

// Nobody is left to ask: whoever started this is gone.
process.on('disconnect', () => process.exit(0));

function join(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
}
