import { resolutions } from '../../ledger/activity-buckets.ts'
import { present } from '../../lib/assert.ts'
import { AccountOutput } from '../../protocol/outputs.ts'
import type { ViewReader } from '../contract/view.ts'
import { activityOfRow } from '../write/activity.ts'
import { activity, commitments } from './bulk-tables.ts'
import { publishedSlot } from './published.ts'
import type { Reading } from './reading.ts'

/** Reads of activity and ledger counters. Each read is one statement, so its values belong to one snapshot. */
export function activityReads({ asOf, row, query }: Reading) {
  const spans = asOf(
    activity,
    `(SELECT * FROM activity WHERE resolution = ? AND bucket BETWEEN ? AND ? ORDER BY bucket)
      AS activity ON true ORDER BY activity.bucket`,
  )
  const oldest = row(commitments, 'ORDER BY slot LIMIT 1')
  const counters = `SELECT newest.slot, owners.addresses, outputs.outputs, outputs.accounts,
      recent.slots, recent.blocks, recent.accepted
    FROM ${publishedSlot} AS newest
    CROSS JOIN (SELECT CAST(sum(addresses) AS BIGINT) AS addresses FROM balance_ranges) AS owners
    CROSS JOIN (SELECT CAST(sum(outputs) AS BIGINT) AS outputs,
        CAST(sum(CASE WHEN kind = ${AccountOutput.code} THEN outputs ELSE 0 END) AS BIGINT) AS accounts
      FROM output_counts) AS outputs
    CROSS JOIN (SELECT count(*) AS slots, CAST(sum(blocks) AS BIGINT) AS blocks,
        CAST(sum(accepted) AS BIGINT) AS accepted
      FROM activity WHERE resolution = ${resolutions.indexOf('SLOT')}
        AND bucket > ${publishedSlot} - ?) AS recent`

  return {
    activity: async (resolution, from, to) => {
      const first = present(await oldest(), 'genesis commitment').slot
      const { slot, rows } = await spans(resolutions.indexOf(resolution), from, to)
      return { first, slot, spans: rows.map(activityOfRow) }
    },
    ledgerCounters: async (slots) => {
      const [found] = await query(counters, [slots])
      const [slot, addresses, outputs, accounts, counted, blocks, accepted] = present(
        found,
        'genesis commitment',
      )
      return {
        slot: Number(slot),
        addresses: Number(addresses),
        outputs: Number(outputs),
        accounts: Number(accounts),
        recent: {
          slots: Number(counted),
          blocks: blocks === null ? undefined : Number(blocks),
          accepted: Number(accepted),
        },
      }
    },
  } satisfies Partial<ViewReader>
}
