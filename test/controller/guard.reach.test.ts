import { describe, expect, it } from 'vitest';
import { brokenRule } from '../../src/controller/guard.ts';
import type { Observation, Reach, Request } from '../../src/platform/platform.ts';
import type { Action } from '../../src/pool/types.ts';

/** A platform whose instances are objects of kinds of its own. */
const REACH: Reach = {
  deletes: new Set(['Room']),
  patches: { House: /^\/metadata\/annotations\/ours$/ },
};
const PROMPT: Action = { kind: 'prompt', slot: 'a', remedy: 'r', takes: false };
const TEST = { op: 'test', path: '/metadata/resourceVersion', value: '7' } as const;

function observed(claimedBy?: string): Observation {
  const instance = { slot: 'a', needs: [], ...(claimedBy === undefined ? {} : { claimedBy }) };
  return { observed: { instances: [instance] }, reach: REACH } as unknown as Observation;
}

function patch(kind: string, path: string, fields: object = {}): Request {
  const resource = { group: 'g', version: 'v1', kind, plural: 'p', namespaced: false };
  const operations = [TEST, { op: 'add', path, value: 'x' }];
  return {
    verb: 'patch',
    resource,
    namespace: '',
    name: 'n',
    resourceVersion: '7',
    patch: operations,
    ...fields,
  } as Request;
}

function removal(kind: string, fields: object = {}): Request {
  const resource = { group: 'g', version: 'v1', kind, plural: 'p', namespaced: false };
  return {
    verb: 'delete',
    resource,
    namespace: '',
    name: 'n',
    uid: 'u',
    resourceVersion: '7',
    ...fields,
  } as unknown as Request;
}

describe('of kinds of the platform’s own', () => {
  it.each([
    ['what it has said may be written', patch('House', '/metadata/annotations/ours')],
    ['what it has said may be deleted', removal('Room')],
  ])('%s passes', (_, request) => {
    expect(brokenRule(request, PROMPT, observed())).toBeUndefined();
  });

  it.each([
    ['another field', patch('House', '/spec/replicas'), 'P12'],
    ['another annotation', patch('House', '/metadata/annotations/theirs'), 'P12'],
    ['a finalizer', patch('House', '/metadata/finalizers'), 'P12'],
    ['a status', patch('House', '/metadata/annotations/ours', { subresource: 'status' }), 'P12'],
    ['another kind', patch('Room', '/metadata/annotations/ours'), 'P12'],
    ['a delete of another kind', removal('House'), 'P12'],
    ['a delete of a part that other platforms have', removal('Deployment'), 'P12'],
    ['a delete without its version', removal('Room', { resourceVersion: '' }), 'P5'],
    ['a delete without its uid', removal('Room', { uid: '' }), 'P5'],
    [
      'a patch of another version',
      patch('House', '/metadata/annotations/ours', { resourceVersion: '8' }),
      'P5',
    ],
    [
      'anything new',
      { verb: 'create', resource: removal('Room').resource, namespace: '', body: {} } as unknown as Request,
      'P12',
    ],
  ])('%s does not', (_, request, rule) => {
    expect(brokenRule(request, PROMPT, observed())).toBe(rule);
  });

  it('nothing is done to what a user holds', () => {
    expect(brokenRule(removal('Room'), PROMPT, observed('ada'))).toBe('P11');
  });
});
