import { present } from '../../lib/assert.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import {
  type LeaseHeld,
  type LeaseLost,
  type LeaseState,
  type LeaseTerm,
  leaseTtlMs,
  longestLeaseMs,
} from '../contract/lease.ts'
import type { RawWriting, Writing } from '../sql/statements.ts'

/** The lease of the writer (design: write path): one row, with a term that every new holder increments. */

/**
 * Takes the lease if it is free or has expired. Throws if a newer program has migrated the tables since this program opened the database,
 * because this program would write rows of the old form.
 */
export async function takeLease(
  { tx, sql }: Writing,
  lease: { readonly holder: string; readonly ttlMs: number },
  newestMigration: string | undefined,
): Promise<Result<LeaseTerm, LeaseHeld>> {
  // This must be the first statement: SQLite rejects a write if another process has written since the first read of the transaction.
  const term = await sql.claimLease(tx, lease.holder, lease.ttlMs)
  const [newest] = await tx.$queryRawUnsafe<{ name: string | null }[]>(
    'SELECT max(migration_name) AS name FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  )
  const found = newest?.name ?? ''
  if (newestMigration !== undefined && found > newestMigration) {
    throw new Error(`the database is newer than this program: it has the migration ${found}`)
  }
  if (term !== undefined) return ok({ term })
  const row = present(await tx.writer.findUnique({ where: { id: 1n } }), 'writer row')
  const { holder, until } = row
  return err({ code: 'LEASE_HELD', term: Number(row.term), holder, until: Number(until) })
}

/** Extends a lease if no other process has taken it, even if it has expired. */
export async function renewLease(
  { tx, sql }: RawWriting,
  term: number,
  ttlMs: number,
): Promise<Result<LeaseTerm, LeaseLost>> {
  return (await sql.renewLease(tx, term, ttlMs)) ? ok({ term }) : err({ code: 'LEASE_LOST', term })
}

/** Ends a lease at once if no other process has taken it. */
export async function releaseLease({ tx, sql }: Writing, term: number): Promise<void> {
  const own = { id: 1n, term: BigInt(term) }
  const { count } = await tx.writer.updateMany({ where: own, data: { until: 0n } })
  if (count > 0) await sql.notify(tx, { topic: 'LEASE_FREED' })
}

/**
 * Runs `work` if the lease still has this term, and locks the lease until the transaction ends. Long work extends the lease at its end.
 * Otherwise another process could take the lease before the holder renews it.
 */
export async function underLease<T, E>(
  { tx, sql }: RawWriting,
  term: number,
  work: () => Promise<Result<T, E>>,
): Promise<Result<T, E | LeaseLost>> {
  const begun = performance.now()
  if (!(await sql.lockLease(tx, term))) return err({ code: 'LEASE_LOST', term })
  const done = await work()
  if (done.ok && performance.now() - begun > longWorkMs) await sql.prolongLease(tx, term, extraMs)
  return done
}

const longWorkMs = 500

/** Milliseconds of the extension, in which the holder can renew the lease itself. */
const extraMs = 3_000

/**
 * Creates a check of whether a lease ends later than any renewal sets it, and was not renewed for its duration: the clock of the
 * database was set back after the last renewal. The holder may still run, but its writes fail as soon as the next term begins.
 */
export function createStaleCheck(): (lease: LeaseState) => boolean {
  let far: { readonly term: number; readonly since: number } | undefined
  return ({ term, leftMs }) => {
    const now = performance.now()
    if (leftMs <= longestLeaseMs) far = undefined
    else if (far?.term !== term) far = { term, since: now }
    return far !== undefined && now > far.since + leaseTtlMs
  }
}
