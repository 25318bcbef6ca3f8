import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TerminalError } from '../errors.ts';
import type { Store } from './types.ts';

const DEFINITIONS = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
const NAMESPACES = { group: '', version: 'v1', plural: 'namespaces' };
const USER = 'system:admin';

/** Installs CustomResourceDefinitions: objects, or all `*.json` files of a directory. Those that are there stay. */
export function installCrds(store: Store, source: string | readonly unknown[]): void {
  const definitions = typeof source === 'string' ? readDefinitions(source) : source;
  for (const body of definitions) {
    const { code, body: answer } = store.execute({ verb: 'create', resource: DEFINITIONS, body, user: USER });
    if (code !== 201 && code !== 409) {
      throw new TerminalError(`installing a CustomResourceDefinition: ${code} ${answer['message']}`);
    }
  }
}

function readDefinitions(directory: string): readonly unknown[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file): unknown => JSON.parse(readFileSync(join(directory, file), 'utf8')));
}

/** Makes namespaces; those that are there stay. */
export function createNamespaces(store: Store, names: readonly string[]): void {
  for (const name of names) {
    const request = {
      verb: 'create',
      resource: NAMESPACES,
      body: { metadata: { name } },
      user: USER,
    } as const;
    const { code, body } = store.execute(request);
    if (code !== 201 && code !== 409)
      throw new TerminalError(`creating namespace ${name}: ${code} ${body['message']}`);
  }
}
