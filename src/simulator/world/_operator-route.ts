import type { KubeObject } from '../../kube/api.ts';
import type { Session } from '../../platform/theia-cloud/crds.ts';
import { HTTP_ROUTES } from '../../platform/theia-cloud/resources.ts';
import { sessionLabels, sessionReference } from './_operator-claims.ts';
import type { OperatorContext } from './_operator-parts.ts';

export interface RouteTarget {
  /** URL path without the slash at its end. */
  readonly path: string;
  readonly service: string;
  readonly port: number;
  /** The route of the installation: host names and gateways are copied from it. */
  readonly shared: KubeObject;
}

/** Publishes a Session under its path; a route that is there already gets this one's content. */
export async function createRoute(
  { hands }: OperatorContext,
  session: Session,
  target: RouteTarget,
): Promise<boolean> {
  const route = routeFor(session, target);
  const failure = await hands.create(HTTP_ROUTES, route);
  if (failure?.kind !== 'exists') return failure === undefined;
  const edited = await hands.edit(HTTP_ROUTES, { name: route.metadata.name }, () => ({
    metadata: [
      { op: 'add', path: '/metadata/labels', value: route.metadata.labels },
      { op: 'add', path: '/metadata/ownerReferences', value: route.metadata.ownerReferences },
    ],
    other: [{ op: 'add', path: '/spec', value: route['spec'] }],
  }));
  return edited === undefined;
}

function routeFor(session: Session, { path, service, port, shared }: RouteTarget): KubeObject {
  const { parentRefs, hostnames } = shared['spec'] as { parentRefs: unknown; hostnames: unknown };
  const toSlash = { path: { type: 'ReplaceFullPath', replaceFullPath: `${path}/` }, statusCode: 302 };
  const forwarded = { set: [{ name: 'X-Forwarded-Uri', value: '%REQ(:PATH)%' }] };
  const stripped = { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } };
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: {
      name: `${session.metadata.uid}-route`,
      labels: sessionLabels(session),
      ownerReferences: [sessionReference(session)],
    },
    spec: {
      parentRefs,
      hostnames,
      rules: [
        {
          matches: [{ path: { type: 'Exact', value: path } }],
          filters: [{ type: 'RequestRedirect', requestRedirect: toSlash }],
        },
        {
          matches: [{ path: { type: 'PathPrefix', value: `${path}/` } }],
          filters: [
            { type: 'RequestHeaderModifier', requestHeaderModifier: forwarded },
            { type: 'URLRewrite', urlRewrite: stripped },
          ],
          backendRefs: [{ name: service, port }],
        },
      ],
    },
  };
}
