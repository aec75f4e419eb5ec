import { genesisCommitment } from '../../../ledger/commit-slot.ts'
import { identifyOutputs } from '../../../ledger/genesis.ts'
import { err, ok, type Result } from '../../../lib/result.ts'
import { byIndex, commitmentId } from '../../../protocol/ids.ts'
import { type AccountId, maxPerTransaction } from '../../../protocol/primitives.ts'
import type { GenesisPlan } from '../../genesis.ts'
import { SnapshotFileMalformed } from './file-reader.ts'
import { type FileOutput, type IotaCoreFile, openIotaCoreFile } from './open-file.ts'

/** Reads the genesis of a network from the first snapshot of its nodes. */

/**
 * Reads the genesis of a file. Checks the output ids against the outputs, and the commitment against the parameters. The credits of
 * accounts are not checked. The error is a description.
 */
export async function readIotaCoreGenesis(path: string): Promise<Result<GenesisPlan, string>> {
  try {
    const file = await openIotaCoreFile(path)
    return await genesisIn(file).finally(file.close)
  } catch (failure) {
    if (failure instanceof SnapshotFileMalformed) return err(failure.message)
    throw failure
  }
}

async function genesisIn({ scanned, ...file }: IotaCoreFile): Promise<Result<GenesisPlan, string>> {
  const { parameters, commitment, roots } = scanned
  if (roots !== undefined) {
    return err(`it is a snapshot of slot ${commitment.slot}; name it with SNAPSHOT`)
  }
  if (genesisCommitment(parameters).commitmentId !== commitmentId(commitment)) {
    return err('its parameters do not match its commitment')
  }
  // The node puts all outputs into one transaction, and only this many outputs of a transaction can be spent.
  if (scanned.outputs.count > maxPerTransaction) {
    return err(`it has more than ${maxPerTransaction} outputs`)
  }
  const rows: FileOutput[] = []
  for await (const row of file.outputs()) rows.push(row)
  rows.sort(byIndex)
  const outputs = rows.map(({ output }) => output)
  const ids = identifyOutputs(parameters, outputs)
  if (!rows.every(({ outputId }, i) => outputId === ids[i])) {
    return err('its outputs do not match their ids')
  }
  const credits = new Map<AccountId, bigint>()
  for await (const { accountId, entry } of file.accounts()) credits.set(accountId, entry.credits)
  return ok({ parameters, outputs, credits })
}
