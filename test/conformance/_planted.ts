/** A deviation that is put into a copy of the embedded server, to see that it is found. */
export interface Planted {
  readonly name: string;
  /** Below `src/embedded`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export const PLANTED: readonly Planted[] = [
  {
    name: 'a missing object is described by its kind',
    file: 'status.ts',
    find: 'const details = pluralDetails(resource, name);\n  return new StatusError(404,',
    replace:
      'const details = { ...pluralDetails(resource, name), kind: resource.kind };\n  return new StatusError(404,',
  },
  {
    name: 'an update with a stale resourceVersion is taken',
    file: 'update.ts',
    find: 'if (BigInt(version) !== BigInt(',
    replace: 'if (BigInt(version) > BigInt(',
  },
  {
    name: 'the resourceVersion of a delete is not looked at',
    file: 'remove.ts',
    find: 'resourceVersion !== undefined && resourceVersion !== current',
    replace: "resourceVersion === '' && resourceVersion !== current",
  },
  {
    name: 'the uid of a delete is not looked at',
    file: 'remove.ts',
    find: 'if (uid !== undefined && uid !== current.metadata.uid) {',
    replace: "if (uid === '' && uid !== current.metadata.uid) {",
  },
  {
    name: 'a dry run writes',
    file: 'create.ts',
    find: "const object = dryRun ? prepared : core.commit('ADDED', target, prepared);",
    replace: "const object = core.commit('ADDED', target, dryRun ? prepared : prepared);",
  },
  {
    name: 'labels bump the generation',
    file: 'update.ts',
    find: "['metadata', 'status', 'apiVersion'] : ['metadata', 'apiVersion']",
    replace: "['status', 'apiVersion'] : ['apiVersion']",
  },
  {
    name: 'a write on the status bumps the generation',
    file: 'update.ts',
    find: "if (rule === 'none' || request.subresource === 'status') return next;",
    replace:
      "if (rule === 'none') return next; if (request.subresource === 'status') return { ...next, metadata: { ...next.metadata, generation: 9 } };",
  },
  {
    name: 'unknown fields are kept',
    file: 'schema/normalise.ts',
    find: '  unknown.push(path);\n  return undefined;',
    replace: '  unknown.push(path);\n  return field;',
  },
  {
    name: 'unknown fields are lost without a word',
    file: 'schema/normalise.ts',
    find: '  unknown.push(path);\n',
    replace: '',
  },
  {
    name: 'a null does not take the default back',
    file: 'schema/normalise.ts',
    find: 'if (field === null) return known.nullable === true ? null : undefined;',
    replace: 'if (field === null) return null;',
  },
  {
    name: 'a JSON patch replaces only what is there',
    file: 'patch.ts',
    find: "  if (change.kind !== 'remove') return setField(target, key, change.value);",
    replace:
      "  if (change.kind === 'replace' && !Object.hasOwn(target, key)) throw patchRejected();\n  if (change.kind !== 'remove') return setField(target, key, change.value);",
  },
  {
    name: 'a failed test of a JSON patch is a conflict',
    file: 'status.ts',
    find: "return new StatusError(422, 'Invalid', message, { details: {} });",
    replace: "return new StatusError(409, 'Conflict', message, { details: {} });",
  },
  {
    name: 'a watch tells nothing of what leaves its selection',
    file: 'watch.ts',
    find: "return { type: 'DELETED', object: deepFreeze({ ...previous, metadata }) };",
    replace: 'void metadata; return undefined;',
  },
  {
    name: 'a watch does not mark the end of the replay',
    file: 'watch.ts',
    find: "this.#bookmark({ 'k8s.io/initial-events-end': 'true' });",
    replace: 'this.#bookmark({});',
  },
  {
    name: 'a page holds one object too many',
    file: 'read.ts',
    find: 'const shown = limit > 0 ? matching.slice(0, limit) : matching;',
    replace: 'const shown = limit > 0 ? matching.slice(0, limit + 1) : matching;',
  },
  {
    name: 'later pages show the present',
    file: 'read.ts',
    find: '  const live = rv === -1;',
    replace: '  const live = rv !== 0;',
  },
  {
    name: 'an object whose owner is elsewhere stays',
    file: '_owners.ts',
    find: "owner.object.metadata.namespace !== namespace) return 'absent';",
    replace: "owner.object.metadata.namespace !== namespace) return 'solid';",
  },
  {
    name: 'an object goes with the first of its owners',
    file: 'gc.ts',
    find: '  if (solid.length > 0) strip(store, owned, solid);\n  else discard(',
    replace: '  discard(',
  },
  {
    name: 'things can be made in a terminating namespace',
    file: 'create.ts',
    find: '  if (holder.metadata.deletionTimestamp === undefined) return;',
    replace: '  if (holder.metadata.name !== undefined) return;',
  },
  {
    name: 'finalizers are dropped by a delete',
    file: 'remove.ts',
    find: 'const held = finalizers.length > 0 ||',
    replace: 'const held = finalizers.length > 9 ||',
  },
  {
    name: 'a custom object can be replaced without a resourceVersion',
    file: 'custom-kind.ts',
    find: 'unconditionalPut: false,',
    replace: 'unconditionalPut: true,',
  },
  {
    name: 'finalizers may be added to what is going',
    file: 'schema/metadata.ts',
    find: '  if (added.length === 0) return errors;',
    replace: '  if (added.length >= 0) return errors;',
  },
];
