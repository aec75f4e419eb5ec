import { createRequire } from 'node:module'

/** `@iota/iota.js`, the client from before the official SDK. Its package does not say where its types are. */

/** What is used of it. */
export interface OlderClient {
  pluginFetch<T>(
    basePluginPath: string,
    method: 'get' | 'post' | 'delete',
    methodPath: string,
    queryParams?: readonly string[],
    request?: object,
  ): Promise<T>
}

/** Makes a client of a gateway. */
export function openOlderClient(url: string): OlderClient {
  const { SingleNodeClient } = createRequire(import.meta.url)('@iota/iota.js')
  return new SingleNodeClient(url)
}
