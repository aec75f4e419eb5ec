import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { commitmentId } from '../../protocol/ids.ts'
import type { LeaseLost } from '../../store/contract/lease.ts'
import { tryLease } from '../lease.ts'
import type { NodeDeps } from '../node-core.ts'
import type { CheckedHead } from '../snapshot/check-snapshot.ts'
import { type ReceiveError, receiveSnapshot } from '../snapshot/receive-snapshot.ts'
import type {
  SnapshotCommitmentDiffers,
  SnapshotOfAnotherNetwork,
} from '../snapshot/snapshot-errors.ts'
import { snapshotSource } from '../snapshot/snapshot-source.ts'
import type { AnswerUnreadable } from '../unreadable.ts'
import { fetchNetwork, type VersionNotServed } from './initialize.ts'
import { commitmentOf, logIdOfGateway } from './node-queries.ts'
import type { Nodes, NodesAway } from './nodes.ts'

/** Initializes a database in upstream mode from a snapshot instead of the genesis. */

type ConfirmError =
  | NodesAway
  | AnswerUnreadable
  | VersionNotServed
  | SnapshotCommitmentDiffers
  | SnapshotOfAnotherNetwork

/** Why the database is not initialized. */
export type BeginError = Exclude<ReceiveError, LeaseLost> | ConfirmError

/** Receives the snapshot that a setting names, unless the database has a ledger. One of the processes on a database does this. */
export async function beginWithSnapshot(
  { store, log, holder, stopping }: Pick<NodeDeps, 'store' | 'log' | 'holder' | 'stopping'>,
  nodes: Nodes,
  { snapshot, withProofs }: { readonly snapshot: string; readonly withProofs: boolean },
): Promise<Result<undefined, BeginError>> {
  const leaseDeps = { write: store.write, log, holder }
  while ((await store.read.network()) === undefined) {
    const lease = await tryLease(leaseDeps)
    if (!lease.ok) {
      // The process that holds the lease may receive for hours.
      if (stopping?.aborted) return err({ code: 'SNAPSHOT_INTERRUPTED' })
      await delay(pollMs, undefined, { signal: stopping }).catch(() => {})
      continue
    }
    // Another process may have finished the transfer before this one took the lease.
    if ((await store.read.network()) === undefined) {
      const source = snapshotSource(snapshot)
      const confirm = (head: CheckedHead) => confirmHead(nodes, head)
      const received: Result<undefined, ReceiveError | ConfirmError> = await receiveSnapshot({
        store,
        log,
        lease: lease.value,
        source,
        withProofs,
        stopping,
        confirm,
      })
      if (!received.ok && received.error.code !== 'LEASE_LOST') {
        await lease.value.release()
        return err(received.error)
      }
    }
    await lease.value.release()
  }
  return ok(undefined)
}

const pollMs = 500

/**
 * Checks that the nodes have this commitment for its slot, under the same parameters. Returns the log id: the one of the snapshot if
 * the followed gateway has the same log, otherwise a new one, because the log of other nodes may have other positions.
 */
async function confirmHead(
  nodes: Nodes,
  { head, network, milestone }: CheckedHead,
): Promise<Result<Hex, ConfirmError>> {
  const known = await fetchNetwork(nodes)
  if (!known.ok) return known
  if (known.value.parametersHash !== network.parametersHash) {
    return err({ code: 'SNAPSHOT_OF_ANOTHER_NETWORK' })
  }
  const { slot, commitmentId: computed } = milestone
  const answer = await nodes.fetch(commitmentOf(slot))
  if (!answer.ok) return answer
  const served = answer.value && commitmentId(answer.value)
  if (served !== computed) {
    return err({ code: 'SNAPSHOT_COMMITMENT_DIFFERS', slot, computed, served })
  }
  const logId = await nodes.fetch(logIdOfGateway())
  const isSame = logId.ok && logId.value === head.logId
  return ok(isSame ? head.logId : bytesToHex(randomBytes(8)))
}
