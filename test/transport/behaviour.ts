import { describe, expect, it, onTestFinished } from 'vitest';
import { TerminalError } from '../../src/errors.ts';
import { formatKey, type PoolKey } from '../../src/pool/key.ts';
import type { Notice } from '../../src/transport/notice.ts';
import type { Consumer, PassResult, Trigger } from '../../src/transport/queue.ts';
import { notice, poolKey } from './_world.ts';

/** A way from whoever sends notices to the passes that they lead to. */
interface Transport {
  /** Resolves when the notice was taken over. */
  send(notice: Notice): Promise<unknown>;
  stop(): Promise<void>;
}

/** Opens a transport whose passes are `consume`'s. */
export type OpenTransport = (consume: Consumer) => Promise<Transport>;

interface Pass {
  readonly pool: string;
  readonly triggers: readonly Trigger[];
}

/** What every transport promises, said once and asked of each. */
export function describeTransport(name: string, open: OpenTransport): void {
  async function world(consume: (key: PoolKey, count: number) => PassResult | Promise<PassResult>) {
    const passes: Pass[] = [];
    const waiters: (() => void)[] = [];
    const transport = await open(async (key, triggers) => {
      const pool = formatKey(key);
      const count = passes.push({ pool, triggers });
      for (const wake of waiters.splice(0)) wake();
      const mine = passes.slice(0, count).filter((pass) => pass.pool === pool).length;
      return await consume(key, mine);
    });
    onTestFinished(() => transport.stop());
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise<void>((resolve) => waiters.push(resolve));
    };
    const of = (key: PoolKey) => passes.filter(({ pool }) => pool === formatKey(key));
    let seq = 0;
    const send = (key: PoolKey) => transport.send(notice({ key, seq: ++seq }));
    return { transport, passes, until, of, send };
  }
  const [a, b] = [poolKey('a'), poolKey('b')];

  describe(`a notice by way of ${name}`, () => {
    it('leads to a pass over its pool, and says what it was about', async () => {
      const { until, of, send } = await world(() => ({}));
      await send(a);
      await until(() => of(a).length > 0);
      expect(of(a)[0]?.triggers[0]).toMatchObject({
        reason: 'changed',
        object: { kind: 'Deployment', name: 'instance-3', resourceVersion: '4711' },
      });
    });

    it('leads to a pass although it is the tenth about the same state of the same object', async () => {
      const { until, of, send } = await world(() => ({}));
      for (let sent = 0; sent < 10; sent += 1) {
        const before = of(a).length;
        await send(a);
        await until(() => of(a).length > before);
      }
    });

    it('that comes twice does no harm', async () => {
      const { transport, until, of, send } = await world(() => ({}));
      await transport.send(notice({ key: a, seq: 100 }));
      await transport.send(notice({ key: a, seq: 100 }));
      await send(b);
      await until(() => of(a).length > 0 && of(b).length > 0);
    });

    it('waits while its pool has a pass, and other pools do not', async () => {
      const release = Promise.withResolvers<void>();
      let running = 0;
      let atOnce = 0;
      const { until, of, send } = await world(async (key, count) => {
        if (key.name !== 'a') return {};
        running += 1;
        atOnce = Math.max(atOnce, running);
        if (count === 1) await release.promise;
        running -= 1;
        return {};
      });
      await send(a);
      await until(() => of(a).length === 1);
      await send(a);
      await send(b);
      await until(() => of(b).length === 1);
      expect(of(a)).toHaveLength(1);
      release.resolve();
      await until(() => of(a).length === 2);
      expect(atOnce).toBe(1);
    });

    it('is tried again when its pass fails, and delays no other pool', async () => {
      const { until, of, send } = await world((key, count) => {
        if (key.name === 'a' && count < 3) throw new Error('the cluster is not there');
        return {};
      });
      await Promise.all([send(a), send(b)]);
      await until(() => of(b).length === 1);
      await until(() => of(a).length === 3);
    });

    it('is not tried again when that cannot help', async () => {
      const { until, of, send } = await world((key) => {
        if (key.name === 'a') throw new TerminalError('no permission');
        return {};
      });
      await send(a);
      await until(() => of(a).length === 1);
      await send(b);
      await until(() => of(b).length === 1);
      await send(b);
      await until(() => of(b).length === 2);
      expect(of(a)).toHaveLength(1);
    });

    it('leads to a second pass later when the first one asks for it', async () => {
      const { until, of, send } = await world((_key, count) => (count === 1 ? { requeueAfterMs: 500 } : {}));
      await send(a);
      await until(() => of(a).length === 2);
    });

    it('arrives whole with the longest of names', async () => {
      const long = {
        cluster: 'c'.repeat(200),
        platform: 'p'.repeat(60),
        namespace: 'n'.repeat(63),
        name: 'x'.repeat(253),
      };
      const { until, of, send } = await world(() => ({}));
      await send(long);
      await until(() => of(long).length === 1);
    });

    it('is one of many, each of which leads to its pass', async () => {
      const keys = Array.from({ length: 25 }, (_, at) => poolKey(`pool-${at}`));
      const { until, of, send } = await world(() => ({}));
      await Promise.all(keys.map(send));
      await until(() => keys.every((key) => of(key).length > 0));
    });
  });
}
