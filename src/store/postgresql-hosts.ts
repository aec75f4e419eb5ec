import { Socket } from 'node:net'
import { Client, type ClientConfig } from 'pg'
import { hostUrlsOf, sessionAttributesOf, type TargetSession } from './url.ts'

/**
 * Connections to one of several hosts of a URL, as libpq makes them (PostgreSQL manual, 34.1.1.3): the hosts are tried in their
 * order, and `target_session_attrs` says which of them will do. The driver knows one host alone.
 */

/** What the driver is given for a URL. */
export function connectionTo(url: string): ClientConfig {
  const urls = hostUrlsOf(url)
  const [first] = urls
  const wanted = sessionAttributesOf(url)
  if (urls.length === 1 && wanted === 'any') return { connectionString: first }
  const choose = shared(() => chooseHost(urls, wanted))
  return { connectionString: first, stream: () => socketTo(choose) }
}

/** A socket that connects to the host that is chosen, wherever it is asked to. */
function socketTo(choose: () => Promise<Host>): Socket {
  class ChosenSocket extends Socket {
    override connect(..._asked: readonly unknown[]): this {
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

/** One answer for all connections that are made at about the same time: a pool makes many. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    if (answer !== undefined) return answer
    const asked = ask()
    answer = asked
    const forget = () => {
      answer = undefined
    }
    asked.then(() => setTimeout(forget, sharedMs).unref(), forget)
    return asked
  }
}

const sharedMs = 500

async function chooseHost(urls: readonly string[], wanted: TargetSession): Promise<Host> {
  // The second round takes what there is.
  const rounds = wanted === 'prefer-standby' ? (['standby', 'any'] as const) : [wanted]
  const reasons: string[] = []
  for (const round of rounds) {
    for (const url of urls) {
      const { hostname, port } = new URL(url)
      const host = { host: hostname.replace(/^\[(.+)\]$/, '$1'), port: Number(port || 5432) }
      const answer = await sessionOf(url)
      if (typeof answer === 'string') reasons.push(`${host.host}:${host.port}: ${answer}`)
      else if (fits[round](answer)) return host
      else reasons.push(`${host.host}:${host.port} is not ${round}`)
    }
  }
  // As if the one host were not there, which passes.
  const failure = new Error(`no host of the database will do: ${reasons.join('; ')}`)
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

/** What a host says of a session with it, or why it does not. */
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
    return rows[0] ?? 'no answer'
  } catch (failure) {
    return failure instanceof Error ? failure.message : String(failure)
  } finally {
    // The driver would wait for the server to end the connection, and one that hangs does not.
    socket.destroy()
  }
}
