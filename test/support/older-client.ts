import { createRequire } from 'node:module'

/** `@iota/iota.js`, the predecessor of the official SDK. Its package does not declare the location of its types. */

/** The used part of the client. */
export interface OlderClient {
  pluginFetch<T>(
    basePluginPath: string,
    method: 'get' | 'post' | 'delete',
    methodPath: string,
    queryParams?: readonly string[],
    request?: object,
  ): Promise<T>
}

/** Creates a client of a gateway. */
export function openOlderClient(url: string): OlderClient {
  const { SingleNodeClient } = createRequire(import.meta.url)('@iota/iota.js')
  return new SingleNodeClient(url)
}
