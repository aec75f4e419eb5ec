import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { snapshotHead } from '../node/embedded/snapshot-head.ts'
import { snapshotLines } from '../node/snapshot/read-snapshot.ts'
import { firstCheck, snapshotLine } from '../node/snapshot/snapshot-format.ts'
import { snapshotSource } from '../node/snapshot/snapshot-source.ts'
import { verifySnapshot } from '../node/snapshot/verify-snapshot.ts'
import { networkOf } from '../protocol/network.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { Database } from '../store/database.ts'
import { parametersIn } from '../store/output-index.ts'
import { createReader } from '../store/reader.ts'
import { createSerialQueue } from '../store/serial-queue.ts'
import { createSnapshots } from '../store/snapshots.ts'
import { createWriter } from '../store/writer.ts'
import {
  asksForHelp,
  type Command,
  done,
  failed,
  type ProcessIo,
  refuse,
  settingTable,
  table,
} from './command.ts'
import { snapshotMessage } from './snapshot-message.ts'
import { databaseSettings, moveWith } from './with-database.ts'

/** Writes and checks snapshots of a ledger. */
export const snapshot: Command = {
  help: `Writes what a gateway in upstream mode can begin with (SNAPSHOT), or checks it: the ledger at the end of
the newest slot. A gateway may go on writing the database meanwhile.

Usage: ledger-gateway snapshot write FILE [FLAGS]
       ledger-gateway snapshot check FILE

${table([['FILE', 'a new file to write, or the file to check']])}
${settingTable(databaseSettings)}

A check finds damage, and whether the unspent outputs and the accounts are those that the commitment
of the slot stands for. Whether the network has that commitment is checked by who begins with it.
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(snapshot.help)
      return done
    }
    const [verb, file, ...flags] = words
    if (file === undefined || file.startsWith('--')) {
      return refuse(process, 'snapshot', ['FILE is needed, behind write or check'])
    }
    if (/^https?:/.test(file)) return refuse(process, 'snapshot', ['FILE must be a file'])
    if (verb === 'check' && flags.length === 0) return check(process, file)
    if (verb === 'write') return write(process, file, flags)
    const wrong = verb === 'check' ? `${flags[0]} is not expected here` : `${verb} is unknown`
    return refuse(process, 'snapshot', [wrong])
  },
}

async function check(process: ProcessIo, file: string): Promise<number> {
  const verified = await verifySnapshot(snapshotSource(file))
  if (!verified.ok) {
    process.stderr(`ledger-gateway snapshot: ${snapshotMessage(verified.error)}\n`)
    return failed
  }
  const { head, counts } = verified.value
  const { outputs, accounts, tips } = counts
  process.stdout(`network ${head.network.parameters.networkName}
slot ${head.milestone.slot}
commitment ${head.milestone.commitmentId}
${outputs} unspent outputs, ${accounts} accounts, ${tips} tips of histories
`)
  return done
}

function write(process: ProcessIo, file: string, flags: readonly string[]): Promise<number> {
  const call = { name: 'snapshot', words: flags, flags: [] }
  return moveWith(process, call, async (database, { signal }) => {
    const row = await createReader(database).network()
    if (row === undefined) return 'the database holds no ledger'
    const parameters = parametersIn(row.parameters)
    const { read, head } = await openHead(database, parameters)
    if (!head.ok)
      return 'the database holds no ledger that this program keeps, or no slot of it yet'
    const { slot, commitments } = head.value
    const first = snapshotLine(firstCheck, { section: 'head', head: head.value })
    const seq = commitments.at(-1)?.[2] ?? 0
    const range = {
      slot,
      section: 'outputs',
      after: '0x',
      check: first.check,
      seq,
      parameters,
    } as const
    const out = createWriteStream(file, { flags: 'wx' })
    const broken = new Promise<never>((_, reject) => void out.once('error', reject))
    const put = async (line: string) => {
      if (!out.write(line)) await Promise.race([once(out, 'drain'), broken])
    }
    await Promise.race([once(out, 'open'), broken])
    await put(`${first.text}\n`)
    for await (const line of snapshotLines(read, range)) {
      if (signal.aborted) return 'interrupted; what was written is not whole'
      await put(line)
    }
    out.end()
    await Promise.race([once(out, 'finish'), broken])
    process.stderr(`snapshot: slot ${slot}\n`)
    return undefined
  })
}

async function openHead(database: Database, parameters: ProtocolParameters) {
  const read = createReader(database)
  const snapshots = createSnapshots(database, read)
  const write = createWriter(database, createSerialQueue())
  const head = await snapshotHead({ snapshot: snapshots.begin, write }, networkOf(parameters))
  snapshots.close()
  return { read, head }
}
