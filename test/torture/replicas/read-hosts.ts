import type { ClusterGateway } from '../cluster/gateways.ts'

/** Returns the hosts to which a gateway has moved its reads so far, oldest first. */
export function readHostsOf({ lines }: ClusterGateway): readonly string[] {
  return lines()
    .filter(({ event }) => event === 'reads-moved')
    .map(({ text }) => JSON.parse(text).to.split('/')[0])
}

/** Returns the host and port of a URL. */
export function hostOf(url: string): string {
  return new URL(url).host
}
