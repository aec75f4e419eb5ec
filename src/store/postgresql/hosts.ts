import { Socket } from 'node:net'
import { Client, type ClientConfig } from 'pg'
import { messageIn } from '../../lib/thrown.ts'
import { hostUrlsOf, sessionAttributesOf, type TargetSession } from '../url.ts'

/**
 * Connects to one of several hosts of a URL, as libpq does (PostgreSQL manual, 34.1.1.3): the hosts are tried in their order, and
 * `target_session_attrs` selects the acceptable ones. The driver itself supports only one host.
 */

/** Returns the connection settings of the driver for a URL. */
export function connectionTo(url: string): ClientConfig {
  const urls = hostUrlsOf(url)
  const [first] = urls
  const wanted = sessionAttributesOf(url)
  if (urls.length === 1 && wanted === 'any') return { connectionString: first }
  const choose = shared(() => chooseHost(urls, wanted))
  return { connectionString: first, stream: () => socketTo(choose) }
}

/** Creates a socket that connects to the chosen host, whatever host the driver passes to it. */
function socketTo(choose: () => Promise<Host>): Socket {
  class ChosenSocket extends Socket {
    override connect(..._ignored: readonly unknown[]): this {
      choose().then(
        (host) => {
          if (!this.destroyed) super.connect(host)
        },
        (failure: Error) => this.destroy(failure),
      )
      return this
    }
  }
  return new ChosenSocket()
}

interface Host {
  readonly host: string
  readonly port: number
}

/** Shares one result among all connections that are opened at about the same time. A pool opens many. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined
  return () => {
    if (current !== undefined) return current
    const started = work()
    current = started
    const forget = () => {
      current = undefined
    }
    started.then(() => setTimeout(forget, sharedMs).unref(), forget)
    return started
  }
}

const sharedMs = 500

async function chooseHost(urls: readonly string[], wanted: TargetSession): Promise<Host> {
  // The second round accepts any host.
  const rounds = wanted === 'prefer-standby' ? (['standby', 'any'] as const) : [wanted]
  const reasons: string[] = []
  for (const round of rounds) {
    for (const url of urls) {
      const { hostname, port } = new URL(url)
      const host = { host: hostname.replace(/^\[(.+)\]$/, '$1'), port: Number(port || 5432) }
      const session = await sessionOf(url)
      if (typeof session === 'string') reasons.push(`${host.host}:${host.port}: ${session}`)
      else if (fits[round](session)) return host
      else reasons.push(`${host.host}:${host.port} is not ${round}`)
    }
  }
  // The code of an unreachable host, which the gateway treats as temporary.
  const failure = new Error(`no suitable host of the database: ${reasons.join('; ')}`)
  throw Object.assign(failure, { code: 'ECONNREFUSED' })
}

interface Session {
  readonly isStandby: boolean
  readonly isReadOnly: boolean
}

const fits: { readonly [W in Exclude<TargetSession, 'prefer-standby'>]: (s: Session) => boolean } =
  {
    any: () => true,
    'read-write': ({ isStandby, isReadOnly }) => !isStandby && !isReadOnly,
    'read-only': ({ isStandby, isReadOnly }) => isStandby || isReadOnly,
    primary: ({ isStandby }) => !isStandby,
    standby: ({ isStandby }) => isStandby,
  }

/** Returns the properties of a session with a host, or the reason why there is none. */
async function sessionOf(url: string): Promise<Session | string> {
  const connectionTimeoutMillis = 3_000
  const socket = new Socket()
  const client = new Client({
    connectionString: url,
    stream: () => socket,
    connectionTimeoutMillis,
    query_timeout: connectionTimeoutMillis,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<Session>(
      `SELECT pg_is_in_recovery() AS "isStandby",
        current_setting('default_transaction_read_only') = 'on' AS "isReadOnly"`,
    )
    return rows[0] ?? 'no response'
  } catch (failure) {
    return messageIn(failure)
  } finally {
    // The driver would wait until the server ends the connection. A server that hangs never does.
    socket.destroy()
  }
}
