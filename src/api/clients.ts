import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { SubmissionQuota } from '../service/submit/submission-quota.ts'
import { type Caller, type Credentials, credentialsOf } from './auth.ts'
import { clientOf, type TrustedProxies } from './client-address.ts'
import { createClientQuotas } from './client-quotas.ts'
import { createClientShares, type Share } from './client-shares.ts'
import type { TransportLimits } from './limits.ts'

/** Who is meant by one client, on every transport: the holder of a valid token, or else all who share an address. */

/** A client, by what it is counted by. */
export interface Client {
  readonly name: string
  readonly share: Share
  /** What it may still add to the database. */
  quota(): SubmissionQuota
  /** Whether it has shown a token of the operator. */
  readonly isOperator: boolean
}

/** The clients of a gateway. */
export interface Clients {
  /** Whose request it is as far as that is known without asking: the holder of a token that came before, or an address. */
  nameOf(message: IncomingMessage): string
  /** The sender of a request by its address alone. */
  byAddress(message: IncomingMessage): Client
  /** The same, or the holder of the token, where there is a valid one. */
  of(message: IncomingMessage, sent: Credentials, caller: Caller): Client | Promise<Client>
  /** The holder of a token that came later, for whom the client was that asked before. */
  named(sent: Credentials, caller: Caller, before: Client): Promise<Client>
}

/** Characters of tokens whose holders are remembered: checking a signature takes longer than many a request. */
const maxTokenCharacters = 1_048_576

/** Checking a token, some 200 µs. What is refused is paid for by the address that it comes from. */
const tokenCost = 20

/** Knows no client yet. */
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
  // A connection has one address, and of strangers every request comes from it.
  const addresses = new WeakMap<Socket, string>()

  function addressOf({ socket, headers }: IncomingMessage): string {
    if (proxies.kind !== 'none') return clientOf(socket.remoteAddress, headers, proxies)
    const known = addresses.get(socket)
    if (known !== undefined) return known
    const address = clientOf(socket.remoteAddress, headers, proxies)
    addresses.set(socket, address)
    return address
  }

  const clientNamed = (name: string): Client => ({
    name,
    share: shares.of(name),
    quota: () => quotaOf(name),
    isOperator: false,
  })

  async function named(sent: Credentials, caller: Caller, before: Client): Promise<Client> {
    const token = tokenIn(sent) ?? ''
    // What a token was taken for once is enough to know whose share it is; what it allows is asked each time, also for operators.
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

/** Both, for an empty header leaves the cookie to say who it is; `undefined` of a stranger. */
function tokenIn({ authorization, cookie }: Credentials): string | undefined {
  if (authorization === undefined && cookie === undefined) return undefined
  return `${authorization ?? ''}\n${cookie ?? ''}`
}
