import { expect, test } from 'vitest'
import { check } from '../../src/cli/check.ts'
import { rebuildActivity } from '../../src/cli/rebuild-activity.ts'
import type { BlockId } from '../../src/protocol/primitives.ts'
import { graphql } from '../support/client.ts'
import { defaultDatabase, onDatabase } from '../support/databases.ts'
import { fundFromFaucet, startWorld, worldParameters } from '../support/ledger-world.ts'
import { rest } from '../support/rest.ts'
import { runCommand } from '../support/run-command.ts'
import { until } from '../support/until.ts'
import { ownedBy, taggedData, user } from '../support/wallet.ts'

/** Tests that blocks without a transaction are pruned after some slots, and that all queries still work. */

const kept = 2 * worldParameters.maxCommittableAge

test('old blocks without a transaction are pruned with their references, and everything else stays', async () => {
  const database = await defaultDatabase().create()
  const { url: DATABASE_URL } = database
  // These are fewer slots than blocks may refer to.
  const world = await startWorld({ DATABASE_URL, BLOCK_RETENTION: '1' })
  const { url } = world.gateway
  const query = async (query: string) => {
    const { data, errors } = await graphql(url, query)
    expect(errors).toBeUndefined()
    return data
  }
  let made = 0
  /** Submits a block with data in the current slot. */
  async function submitData(): Promise<{ id: BlockId; parents: readonly BlockId[]; slot: number }> {
    const moment = await world.moment()
    made++
    const id = await world.submit(
      moment,
      taggedData(`0x${made.toString(16).padStart(4, '0')}`, '0x'),
    )
    return { id, parents: moment.offer.strongParents, slot: moment.slot }
  }

  await fundFromFaucet(world, [ownedBy(user(1), 1_000_000n)])
  const carriers = (await query('{ transactions(first: 1) { nodes { block { blockId } } } }'))
    .transactions.nodes
  const carrier: BlockId = carriers[0].block.blockId
  const old = await submitData()
  const [parent] = old.parents
  const inMilestone = `{ milestone(index: ${old.slot}) { blockCount blocks(first: 10) { nodes { blockId } } } }`
  const { minCommittableAge: lag } = worldParameters
  await world.pass(lag + 1)
  const next = await submitData()
  await world.pass(kept - 1)
  // Time alone prunes nothing: the age is counted from the newest final block.
  const { milestone: before } = await query(inMilestone)
  expect(before.blocks.nodes).toContainEqual({ blockId: old.id })
  const childrenOf = async (id = '') =>
    await (await rest(`${url}/api/explorer/v3/blocks/${id}/children`)).text()
  expect(await childrenOf(parent)).toContain(old.id)
  const last = await submitData()
  await world.pass(lag + 1)
  const blockOfId = async (id: BlockId) => (await query(`{ block(id: "${id}") { blockId } }`)).block
  await until(async () => (await blockOfId(old.id)) === null)
  expect(await blockOfId(carrier)).toEqual({ blockId: carrier })
  expect(await blockOfId(last.id)).toEqual({ blockId: last.id })

  const { milestone: after } = await query(inMilestone)
  expect(after.blockCount).toBe(before.blockCount)
  expect(after.blocks.nodes).not.toContainEqual({ blockId: old.id })
  const listed = (await query('{ blocks(first: 100) { nodes { blockId state } } }')).blocks.nodes
  expect(listed.map(({ blockId }: { blockId: BlockId }) => blockId)).not.toContain(old.id)
  expect((await rest(`${url}/api/core/v3/blocks/${old.id}`)).status).toBe(404)
  expect((await rest(`${url}/api/core/v3/blocks/${old.id}/metadata`)).status).toBe(404)
  expect(await childrenOf(parent)).not.toContain(old.id)
  const { block } = await query(
    `{ block(id: "${next.id}") { parents { blockId block { blockId } } } }`,
  )
  expect(block.parents).toContainEqual({ blockId: old.id, block: null })
  await submitData()
  const pruned = world.gateway.logged.filter((line) => line.includes('"blocks-pruned"'))
  expect(pruned.length).toBeGreaterThan(0)
  await world.close()
  const findings = async () => {
    const { stdout } = await runCommand(check, [], { env: { DATABASE_URL } })
    return JSON.parse(stdout).findings
  }
  expect(await findings()).toEqual([])
  // The pruned blocks would no longer be counted, and the check would miss them.
  expect(await runCommand(rebuildActivity, [], { env: { DATABASE_URL } })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('BLOCK_RETENTION has removed'),
  })
  expect(await findings()).toEqual([])
  // The block of a transaction is never pruned.
  await onDatabase(DATABASE_URL, 'DELETE FROM blocks WHERE kind = 4')
  expect(await findings()).toContainEqual(
    expect.objectContaining({ code: 'COMMITMENT_ROOTS_WRONG' }),
  )
  await database.remove()
})
