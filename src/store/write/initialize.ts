import { err, ok, type Result } from '../../lib/result.ts'
import { ProtocolParameters } from '../../protocol/parameters.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { LeaseLost } from '../contract/lease.ts'
import type { AlreadyInitialized, Genesis } from '../contract.ts'
import type { LogTip } from '../rows.ts'
import { networks } from '../sql/bulk-tables.ts'
import type { RawWriting } from '../sql/statements.ts'
import { countSlots } from './activity.ts'
import { appendToLog } from './append.ts'
import { moveBalances } from './balances.ts'
import { closeSlots } from './inbox.ts'
import { underLease } from './lease.ts'
import { insertOutputs } from './output-index.ts'
import { publishFirst } from './publish.ts'
import { writeState } from './state.ts'

/** Writes the first state of a ledger into a database without a ledger. */
export async function initialize(
  writing: RawWriting,
  term: number,
  genesis: Genesis,
): Promise<Result<LogTip, LeaseLost | AlreadyInitialized>> {
  const { tx, sql } = writing
  return underLease(writing, term, async () => {
    await sql.allowIdling(tx)
    const known = await tx.$queryRawUnsafe<object[]>('SELECT id FROM network')
    if (known.length > 0) return err({ code: 'ALREADY_FOUNDED' })
    const { network, outputs, accounts, epoch, commit } = genesis
    await sql.insert(tx, networks, [{ id: 1, ...network }])
    await writeState(writing, { accounts, epochs: epoch === undefined ? [] : [epoch] })
    await insertOutputs(writing, outputs)
    const slots = { after: commit.slot - 1, upTo: commit.slot }
    const parameters = decodeStored(ProtocolParameters, network.parameters)
    const moved = await moveBalances(writing, parameters, slots)
    const moves = await appendToLog(writing, { lastSeq: 0, commits: [commit], ...moved })
    await countSlots(writing, parameters, { moves, isGenesis: true, ...moved })
    await closeSlots(writing, commit.slot)
    return ok(await publishFirst(writing))
  })
}
