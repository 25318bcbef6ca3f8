export interface KubeconfigFields {
  readonly url: string;
  readonly caPem: string;
  readonly token: string;
  readonly namespace: string;
}

/** A kubeconfig with one cluster, one user and one context, as JSON (which is YAML). */
export function kubeconfigOf({ url, caPem, token, namespace }: KubeconfigFields): string {
  const name = 'everwarm';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [
      {
        name,
        cluster: { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') },
      },
    ],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
