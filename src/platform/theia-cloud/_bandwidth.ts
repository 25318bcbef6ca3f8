import type { AppDefinition } from './crds.ts';
import type { Settings } from './settings.ts';

/** Annotations of the pod that its network limits by itself; a limit of nothing is none. */
export function bandwidthAnnotations(
  { spec }: AppDefinition,
  { bandwidthLimiter }: Settings,
): Readonly<Record<string, string>> {
  if (bandwidthLimiter === 'NONE' || bandwidthLimiter === 'WONDERSHAPER') return {};
  const { downlinkLimit = 0, uplinkLimit = 0 } = spec;
  return {
    ...(downlinkLimit > 0 ? { 'kubernetes.io/ingress-bandwidth': `${downlinkLimit}k` } : {}),
    ...(uplinkLimit > 0 ? { 'kubernetes.io/egress-bandwidth': `${uplinkLimit}k` } : {}),
  };
}

/** The container that limits the pod from inside before the IDE starts: only where both ways are limited. */
export function wondershaper({ spec }: AppDefinition, settings: Settings): readonly unknown[] {
  const { downlinkLimit = 0, uplinkLimit = 0 } = spec;
  const isAsked = ['WONDERSHAPER', 'K8SANNOTATIONANDWONDERSHAPER'].includes(settings.bandwidthLimiter);
  if (!isAsked || downlinkLimit <= 0 || uplinkLimit <= 0) return [];
  return [
    {
      name: 'wondershaper-init',
      image: settings.wondershaperImage,
      securityContext: { capabilities: { add: ['NET_ADMIN'] } },
      env: [
        { name: 'DOWNLINK', value: String(downlinkLimit) },
        { name: 'UPLINK', value: String(uplinkLimit) },
      ],
    },
  ];
}
