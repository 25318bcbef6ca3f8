/** How to reach one API server, and as whom. */
export interface Cluster {
  /** Base URL; a path in it is kept (a proxy in front of several clusters). */
  readonly server: string;
  /** PEM; without it the system's authorities are trusted. */
  readonly ca?: string;
  /** PEM of a client certificate, with its `key`. */
  readonly cert?: string;
  readonly key?: string;
  /** The name in the server's certificate, where it is not the URL's. */
  readonly serverName?: string;
  /** For a throw-away cluster of one's own only. */
  readonly skipTlsVerify?: boolean;
  /** The namespace a kubeconfig names for its context, or the pod's own. */
  readonly defaultNamespace?: string;
  /** The bearer token now; `undefined` without one. `refresh` after a 401: do not answer from memory. May reject. */
  token(refresh: boolean): Promise<string | undefined>;
}
