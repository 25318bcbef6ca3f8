import type { Difference } from './_difference.ts';
import type { Step } from './_program.ts';
import type { Said } from './_run.ts';

/** One difference, and where it was found. */
export interface Found extends Difference {
  readonly step: Step;
  readonly saidByReal: Said;
  readonly saidByEmbedded: Said;
}

/** A way in which the embedded API server is known to differ. `docs/embedded-api-server.md` has the same list for people. */
interface Deviation {
  readonly name: string;
  readonly matches: (found: Found) => boolean;
}

/** What the server refuses, by what it names in its 501. */
const refuses = (name: string, what: string): Deviation => ({
  name,
  matches: ({ saidByEmbedded: { code, body } }) =>
    code === 501 && JSON.stringify(body).includes(`this embedded API server does not support ${what}`),
});

export const DEVIATIONS: readonly Deviation[] = [
  { name: 'managed fields', matches: ({ path }) => /\.managedFields$/.test(path) },
  {
    name: 'column descriptions',
    matches: ({ path, embedded }) => /columnDefinitions\[\d+\]\.description$/.test(path) && embedded === '',
  },
  {
    name: 'quota status',
    matches: ({ step, path }) =>
      step.kind === 'resourcequotas' && /^body\.(?:status\.|metadata\.resourceVersion)/.test(path),
  },
  {
    name: 'authorization',
    matches: ({ step, saidByReal }) => step.do === 'send' && step.as === 'nobody' && saidByReal.code === 403,
  },
  {
    name: 'earlier states',
    matches: ({ step, saidByReal, saidByEmbedded }) =>
      step.path.includes('resourceVersionMatch=Exact') &&
      saidByReal.code === 200 &&
      saidByEmbedded.code === 410,
  },
  refuses('server-side apply', 'server-side apply'),
  refuses('YAML bodies', 'request bodies in YAML'),
  refuses('YAML answers', 'answers in YAML'),
  refuses('protobuf answers', 'answers in protobuf'),
  refuses('other subresources', 'the subresource'),
];
