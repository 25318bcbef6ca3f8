import { type Json, list, record, text } from '../json.ts';
import type { FieldError } from '../status.ts';
import { fieldForbidden, invalidValue, required, tooLong } from './field-error.ts';
import {
  annotationErrors,
  labelErrors,
  type NameRule,
  nameProblems,
  qualifiedNameProblems,
} from './names.ts';
import type { Schema } from './schema.ts';

const ANNOTATION_BYTES_MAX = 262_144;
const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];

const STRING: Schema = { type: 'string', drop: true };
const STRINGS: Schema = { type: 'object', additionalProperties: { type: 'string' }, drop: true };

/** ObjectMeta, which is the same for every kind. */
export const METADATA: Schema = {
  type: 'object',
  properties: {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    uid: STRING,
    resourceVersion: STRING,
    generation: { type: 'integer', drop: true },
    creationTimestamp: STRING,
    deletionTimestamp: STRING,
    deletionGracePeriodSeconds: { type: 'integer' },
    selfLink: STRING,
    labels: STRINGS,
    annotations: STRINGS,
    finalizers: { type: 'array', items: { type: 'string' }, drop: true, patchKey: '' },
    ownerReferences: {
      type: 'array',
      drop: true,
      patchKey: 'uid',
      items: {
        type: 'object',
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          name: { type: 'string' },
          uid: { type: 'string' },
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    managedFields: {
      type: 'array',
      items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      drop: true,
    },
  },
};

/** Checks the metadata that a client may set. `old` is the stored metadata on an update: what is shared is fine already. */
export function metadataErrors(
  rules: MetadataRules,
  metadata: Json,
  old: Json | undefined,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { nameRule: rule, metadataChecks } = rules;
  if (old === undefined) {
    errors.push(...generateNameErrors(rule, text(metadata['generateName']) ?? ''));
    const name = text(metadata['name']) ?? '';
    if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
    else
      for (const problem of nameProblems(rule, name))
        errors.push(invalidValue('metadata.name', name, problem));
  }
  // The real server looks at these several times in an update, and reports each time.
  const shared = sharedErrors(metadata, old);
  const times = old === undefined ? 1 : metadataChecks;
  for (let time = 0; time < times; time += 1) errors.push(...shared);
  if (metadata['finalizers'] !== old?.['finalizers']) errors.push(...finalizerErrors(metadata, old, rules));
  return errors;
}

/** What the metadata of a kind depends on. */
interface MetadataRules {
  readonly nameRule: NameRule;
  readonly metadataChecks: number;
  readonly strictFinalizers: boolean;
}

function sharedErrors(metadata: Json, old: Json | undefined): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (metadata['labels'] !== old?.['labels']) {
    errors.push(...labelErrors('metadata.labels', record(metadata['labels'])));
  }
  if (metadata['annotations'] !== old?.['annotations']) {
    errors.push(...annotationsErrors(record(metadata['annotations'])));
  }
  if (metadata['ownerReferences'] !== old?.['ownerReferences']) {
    errors.push(...ownerErrors(list(metadata['ownerReferences'])));
  }
  return errors;
}

/** A prefix may end with dashes, which a name may not. */
function generateNameErrors(rule: NameRule, prefix: string): readonly FieldError[] {
  if (prefix === '') return [];
  const shown = prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix;
  return nameProblems(rule, shown).map((problem) => invalidValue('metadata.generateName', prefix, problem));
}

function annotationsErrors(annotations: Json): readonly FieldError[] {
  const bytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
  const errors = annotationErrors('metadata.annotations', annotations);
  return bytes > ANNOTATION_BYTES_MAX
    ? [...errors, tooLong('metadata.annotations', ANNOTATION_BYTES_MAX)]
    : errors;
}

function ownerErrors(owners: readonly unknown[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  const controllers: string[] = [];
  for (const owner of owners.map(record)) {
    const apiVersion = text(owner['apiVersion']) ?? '';
    if (apiVersion === '') {
      errors.push(
        invalidValue('metadata.ownerReferences.apiVersion', apiVersion, 'version must not be empty'),
      );
    }
    for (const field of ['kind', 'name', 'uid']) {
      if ((text(owner[field]) ?? '') !== '') continue;
      errors.push(invalidValue(`metadata.ownerReferences.${field}`, '', 'must not be empty'));
    }
    if (owner['controller'] === true) controllers.push(`${owner['kind']}/${owner['name']}`);
  }
  const [first, second] = controllers;
  if (second !== undefined) {
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`;
    errors.push(invalidValue('metadata.ownerReferences', owners, detail));
  }
  return errors;
}

function finalizerErrors(
  metadata: Json,
  old: Json | undefined,
  { strictFinalizers }: MetadataRules,
): readonly FieldError[] {
  const finalizers = list(metadata['finalizers']).map(String);
  const errors = finalizers.flatMap((finalizer, index) =>
    finalizerProblems(finalizer, index, strictFinalizers),
  );
  if (old?.['deletionTimestamp'] === undefined) return errors;
  const before = new Set(list(old['finalizers']));
  const added = finalizers.filter((finalizer) => !before.has(finalizer));
  if (added.length === 0) return errors;
  const shown = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  const error = fieldForbidden(
    'metadata.finalizers',
    `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`,
  );
  // The real server checks this twice and reports both.
  return [...errors, error, error];
}

function finalizerProblems(finalizer: string, index: number, strict: boolean): readonly FieldError[] {
  const problems = qualifiedNameProblems(finalizer).map((problem) =>
    invalidValue('metadata.finalizers', finalizer, problem),
  );
  if (!strict) return problems;
  if (finalizer.includes('/') || STANDARD_FINALIZERS.includes(finalizer)) return problems;
  const detail = 'name is neither a standard finalizer name nor is it fully qualified';
  return [...problems, invalidValue(`metadata.finalizers[${index}]`, finalizer, detail)];
}
