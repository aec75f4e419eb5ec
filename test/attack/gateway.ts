import { createSecretKey } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { issueToken } from '../../src/api/tokens/token.ts'
import type { Environment } from '../../src/config.ts'
import { present } from '../../src/lib/assert.ts'
import { bytesToHex } from '../../src/lib/hex.ts'
import { Block } from '../../src/protocol/block.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import { makeFolder, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  postBytes,
  slotNow,
  taggedData,
  untilCommitted,
  user,
} from '../support/wallet.ts'
import type { Target } from './target.ts'

/** The gateway under attack, in a process of its own with little memory and few descriptors. */
export interface AttackedGateway {
  readonly url: string
  /** The process id. */
  readonly pid: number
  /** Returns a token that allows its subject to set chain records. */
  tokenOf(subject: string): Promise<string>
  /** The values that attacks need. */
  readonly target: Pick<Target, 'url' | 'token' | 'wrongBlock' | 'largeBlock'>
  /** Returns the present resources of its process. */
  resources(): Resources
  /** Whether its process runs. */
  isAlive(): boolean
  /** Returns its log so far. */
  logged(): string
  end(): Promise<void>
}

/** The memory and the open descriptors of a process. */
export interface Resources {
  readonly residentMb: number
  readonly descriptors: number
}

/** The limits of the process: its heap in MiB, and its descriptors. */
const [heapMb, descriptors] = [512, 1_024]

/** Starts the gateway with additional settings. */
export async function startAttackedGateway(env: Environment = {}): Promise<AttackedGateway> {
  const folder = makeFolder()
  const secret = 'the secret of a gateway under attack'
  const limited = `ulimit -n ${descriptors}; exec "$0" "$@"`
  const program = await startProgram(
    {
      DATABASE_URL: folder.databaseUrl,
      JWT_SECRET: secret,
      NODE_OPTIONS: `--max-old-space-size=${heapMb}`,
      ...env,
    },
    ['/bin/bash', '-c', limited],
  )
  const { url, process: child } = program
  const offer = await offerOf(url)
  const key = createSecretKey(Buffer.from(secret))
  const tokenOf = (subject: string) =>
    issueToken(
      { algorithm: 'HS256', sign: key, verify: key },
      { subject, scopes: ['chain-record:write'], lifetimeSeconds: 3_600, nowMs: Date.now() },
    )
  const { block } = blockOf(offer, taggedData('0x01', '0x'))
  const large = blockOf(offer, taggedData('0x01', bytesToHex(new Uint8Array(8_000))))
  const wrongBlock = { ...block, signature: large.block.signature }
  const pid = present(child.pid, 'its process id')
  return {
    url,
    pid,
    tokenOf,
    target: {
      url,
      token: await tokenOf('victim'),
      wrongBlock: Object(print(Block, wrongBlock)),
      largeBlock: bytesToHex(large.bytes),
    },
    resources: () => resourcesOf(pid),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    logged: program.logged,
    end: async () => {
      await program.end('SIGTERM')
      folder.remove()
    },
  }
}

/** Returns the present resources of a process. */
export function resourcesOf(pid: number): Resources {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? []
  const files = readdirSync(`/proc/${pid}/fd`)
  return { residentMb: Math.round(Number(kilobytes) / 1_024), descriptors: files.length }
}

/** Creates 900 outputs in its ledger, and waits until they are committed. */
export async function fillLedger(url: string): Promise<void> {
  const offer = await offerOf(url)
  const creationSlot = slotNow(offer.network)
  for (let i = 1; i <= 9; i++) {
    const key = user(i)
    const [spend] = await genesisOutputs(url, key)
    const outputs = Array.from({ length: 100 }, () => ownedBy(key, 10_000_000n))
    const payment = paymentOf(offer.network, {
      spend: present(spend, 'funds'),
      key,
      outputs,
      creationSlot,
    })
    const { bytes } = blockOf(offer, payment.payload)
    // A gateway that lags behind the clock answers 503, and clients send the block again.
    const posted = await until(async () => {
      const response = await postBytes(url, bytes)
      return response.status === 503 ? undefined : response
    })
    if (!posted.ok) throw new Error(await posted.text())
  }
  await untilCommitted(url, creationSlot + 2)
}
