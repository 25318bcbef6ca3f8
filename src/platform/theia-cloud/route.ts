import type { KubeObject } from '../../kube/api.ts';
import { sessionLabels } from './labels.ts';
import { instanceNames, instancePath } from './names.ts';
import type { Settings } from './settings.ts';
import type { SlotView } from './slot-view.ts';

/** The route by which a Session is reached has its name from the Session's uid. */
export function routeName({ metadata }: KubeObject): string {
  return `${metadata.uid}-route`;
}

/** The route of the installation that every Session's is made from: the AppDefinition's, or the one that it names. */
export function sharedRoute(
  { source }: SlotView,
  routes: ReadonlyMap<string, KubeObject>,
): KubeObject | undefined {
  const owned = [...routes.values()].find(({ metadata }) =>
    metadata.ownerReferences?.some(({ uid }) => uid === source.metadata.uid),
  );
  return owned ?? routes.get(source.spec.ingressname);
}

/** The Session's route as the operator makes it: one redirect to the path with its slash, and the way to the instance. */
export function renderRoute(
  { slot, source }: SlotView,
  settings: Settings,
  session: KubeObject,
  shared: KubeObject,
): KubeObject {
  const { apiVersion, kind, metadata } = session;
  const path = instancePath(source, slot, settings);
  const slash = { type: 'ReplaceFullPath', replaceFullPath: `${path}/` };
  const forwarded = [{ name: 'X-Forwarded-Uri', value: '%REQ(:PATH)%' }];
  const rest = { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' };
  const { parentRefs, hostnames } = (shared['spec'] ?? {}) as SharedSpec;
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: {
      name: routeName(session),
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels: sessionLabels(session),
      ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }],
    },
    spec: {
      ...(parentRefs === undefined ? {} : { parentRefs }),
      hostnames: (hostnames ?? []).length > 0 ? hostnames : hostsOf(source.spec, settings),
      rules: [
        {
          matches: [{ path: { type: 'Exact', value: path } }],
          filters: [{ type: 'RequestRedirect', requestRedirect: { path: slash, statusCode: 302 } }],
        },
        {
          matches: [{ path: { type: 'PathPrefix', value: `${path}/` } }],
          filters: [
            { type: 'RequestHeaderModifier', requestHeaderModifier: { set: forwarded } },
            { type: 'URLRewrite', urlRewrite: { path: rest } },
          ],
          backendRefs: [{ name: instanceNames(source, slot).externalService, port: source.spec.port }],
        },
      ],
    },
  };
}

interface SharedSpec {
  readonly parentRefs?: readonly unknown[];
  readonly hostnames?: readonly string[];
}

/** Where the shared route names no host: the installation's, and it again behind each prefix. */
function hostsOf(
  { ingressHostnamePrefixes = [] }: SlotView['source']['spec'] & { ingressHostnamePrefixes?: unknown },
  { instancesHost }: Settings,
): readonly string[] {
  const prefixes = Array.isArray(ingressHostnamePrefixes) ? ingressHostnamePrefixes : [];
  return [instancesHost, ...prefixes.map((prefix) => `${prefix}${instancesHost}`)];
}
