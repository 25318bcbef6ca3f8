import { readFileSync } from 'node:fs';
import type { KubeObject } from '../../src/kube/api.ts';

/** One request as the server's own log has it. */
export interface AuditEntry {
  /** When it came and when it was answered, epoch ms. */
  readonly at: number;
  readonly answeredAt: number;
  readonly user: string;
  /** What the client calls itself: `kube-controller-manager/v1.34.0 (linux/amd64) …`. */
  readonly agent: string;
  readonly verb: string;
  /** `deployments`, with its subresource: `warmpools/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly code: number;
  /** What was sent and what was answered, where the log keeps bodies. */
  readonly sent?: unknown;
  readonly answer?: KubeObject;
}

/** A request that is meant to change something. */
export const WRITE_VERBS: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
]);

/** All requests for objects so far, in the order in which they were answered. */
export function readAudit(file: string): readonly AuditEntry[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line.endsWith('}') ? entriesOf(JSON.parse(line) as Line) : []));
}

interface Line {
  readonly stage: string;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly user: { readonly username: string };
  readonly userAgent?: string;
  readonly verb: string;
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestObject?: unknown;
  readonly responseObject?: KubeObject;
}

function entriesOf(line: Line): readonly AuditEntry[] {
  const { objectRef, stage } = line;
  // A watch is logged when it begins as well.
  if (objectRef === undefined || (stage !== 'ResponseComplete' && stage !== 'Panic')) return [];
  const { resource, subresource, namespace = '', name = '' } = objectRef;
  const { requestObject, responseObject } = line;
  return [
    {
      at: Date.parse(line.requestReceivedTimestamp),
      answeredAt: Date.parse(line.stageTimestamp),
      user: line.user.username,
      agent: line.userAgent ?? '',
      verb: line.verb,
      resource: subresource === undefined ? resource : `${resource}/${subresource}`,
      namespace,
      name: name === '' ? (responseObject?.metadata?.name ?? '') : name,
      code: line.responseStatus?.code ?? 0,
      ...(requestObject === undefined ? {} : { sent: requestObject }),
      ...(responseObject === undefined ? {} : { answer: responseObject }),
    },
  ];
}
