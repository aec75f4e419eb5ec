import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { SubmissionQuota } from '../../service/submit/submission-quota.ts'
import type { TransportLimits } from '../limits.ts'
import { type Caller, type Credentials, credentialsOf } from '../tokens/auth.ts'
import { clientOf, type TrustedProxies } from './client-address.ts'
import { createClientQuotas } from './client-quotas.ts'
import { createClientShares, type Share } from './client-shares.ts'

/** Identifies clients on every transport: a client is the holder of a valid token, or else an address. */

export interface Client {
  readonly name: string
  readonly share: Share
  /** The client's daily quota of additions to the database. */
  quota(): SubmissionQuota
  /** Whether the client sent a token with the `operator` scope. */
  readonly isOperator: boolean
}

export interface Clients {
  /** Returns the name of the client without verifying a token: the holder of a token that was verified before, or the address. */
  nameOf(message: IncomingMessage): string
  /** Returns the client by its address alone. */
  byAddress(message: IncomingMessage): Client
  /** Returns the holder of the token if it is valid, or else the client by its address. */
  of(message: IncomingMessage, sent: Credentials, caller: Caller): Client | Promise<Client>
  /** Returns the holder of a token that arrived after the connection was opened; `before` is the client until then. */
  named(sent: Credentials, caller: Caller, before: Client): Promise<Client>
}

/** Characters of the cached tokens and names. Verifying a signature takes longer than many requests. */
const maxTokenCharacters = 1_048_576

/** Cost of verifying a token, about 200 µs. The client by address pays for an invalid token. */
const tokenCost = 20

/** Creates the clients of a gateway; none is known yet. */
export function createClients(
  { client: limits }: Pick<TransportLimits, 'client'>,
  proxies: TrustedProxies,
): Clients {
  const shares = createClientShares(limits)
  const quotaOf = createClientQuotas(limits)
  const names = new LRUCache<string, string>({
    maxSize: maxTokenCharacters,
    sizeCalculation: (name, token) => name.length + token.length,
  })
  // Without trusted proxies all requests of a connection come from its address.
  const addresses = new WeakMap<Socket, string>()

  function addressOf({ socket, headers }: IncomingMessage): string {
    if (proxies.kind !== 'none') return clientOf(socket.remoteAddress, headers, proxies)
    return getOrInsert(addresses, socket, () => clientOf(socket.remoteAddress, headers, proxies))
  }

  const clientNamed = (name: string): Client => ({
    name,
    share: shares.of(name),
    quota: () => quotaOf(name),
    isOperator: false,
  })

  async function named(sent: Credentials, caller: Caller, before: Client): Promise<Client> {
    const token = tokenIn(sent) ?? ''
    // The cached name only selects the budget. Permissions are verified with each use; so operators are never cached.
    const known = names.get(token)
    if (known !== undefined) return clientNamed(known)
    const identity = await caller.identify()
    if (!identity.ok) {
      if (identity.error.code !== 'TOKEN_MISSING') before.share.charge(tokenCost)
      return before
    }
    const { name: subject, isOperator } = identity.value
    const name = `token ${subject}`
    if (isOperator) return { ...clientNamed(name), isOperator }
    names.set(token, name)
    return clientNamed(name)
  }

  return {
    nameOf: (message) => {
      const token = tokenIn(credentialsOf(message.headers))
      return (token === undefined ? undefined : names.get(token)) ?? addressOf(message)
    },
    byAddress: (message) => clientNamed(addressOf(message)),
    of: (message, sent, caller) => {
      const byAddress = clientNamed(addressOf(message))
      return tokenIn(sent) === undefined ? byAddress : named(sent, caller, byAddress)
    },
    named,
  }
}

/** The cache key: both headers, because an empty `Authorization` leaves the cookie to count. `undefined` without either header. */
function tokenIn({ authorization, cookie }: Credentials): string | undefined {
  if (authorization === undefined && cookie === undefined) return undefined
  return `${authorization ?? ''}\n${cookie ?? ''}`
}
