import { expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { ok } from '../../src/lib/result.ts'
import {
  accountIdOfKey,
  developmentGenesis,
  developmentKeys,
} from '../../src/node/embedded/development.ts'
import { openSignatureChecker } from '../../src/node/signatures.ts'
import type { LedgerSource } from '../../src/node/source.ts'
import { Block } from '../../src/protocol/block.ts'
import { encode, print } from '../../src/protocol/schema/schema.ts'
import { Payload } from '../../src/protocol/transaction.ts'
import type { SubmissionQuota } from '../../src/service/submit/submission-quota.ts'
import { submitBlock } from '../../src/service/submit/submit-block.ts'
import { defaultDatabase } from '../support/databases.ts'
import { openEmbeddedLedger } from '../support/embedded-ledger.ts'
import { until } from '../support/until.ts'
import { taggedData } from '../support/wallet.ts'

/** A payload whose first block cannot be accepted because of its time, so that the node builds another one. */

const startSeconds = 1_800_000_000
const hourNs = 3_600_000_000_000n

test('the quota counts one payload, and the bytes of the block that is stored', async () => {
  const keys = developmentKeys()
  const database = await defaultDatabase().create()
  const ledger = await openEmbeddedLedger(database.url, {
    startSeconds,
    genesis: developmentGenesis(keys, startSeconds),
    issuer: { key: keys.issuer, accountId: accountIdOfKey(keys.issuer) },
  })
  const signatures = openSignatureChecker({ queueLimit: 10 })
  try {
    const { store, source } = ledger.at()
    await until(() => source.unavailable() === undefined)
    const built: Block[] = []
    const issue: LedgerSource['issue'] = async (payload) => {
      const issued = await source.issue(payload)
      if (!issued.ok) return issued
      const { header } = issued.value
      const issuingTime = header.issuingTime + (built.length === 0 ? hourNs : 0n)
      const block = { ...issued.value, header: { ...header, issuingTime } }
      built.push(block)
      return ok(block)
    }
    let payloads = 0
    const bytes: number[] = []
    const quota: SubmissionQuota = {
      takePayload: () => {
        payloads++
        return undefined
      },
      takeBytes: (count) => {
        bytes.push(count)
        return undefined
      },
      giveBackBytes: (count) => {
        bytes.push(-count)
      },
    }
    const space = { low: () => undefined }
    const deps = { store, source: { ...source, issue }, signatures, clock: ledger.clock, space }
    const json = print(Payload, taggedData('0x01', '0x'))
    const accepted = await submitBlock(deps, { form: 'payload', json }, quota)
    expect(accepted).toEqual(ok(expect.any(String)))
    expect(built).toHaveLength(2)
    expect([payloads, bytes]).toEqual([
      1,
      [encode(Block, present(built[1], 'a second block')).length],
    ])
  } finally {
    await signatures.close()
    await ledger.close()
    await database.remove()
  }
})
