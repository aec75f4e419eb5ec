import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { logTables } from '../support/log-tables.ts'
import { type Folder, makeFolder, type Program, startProgram } from '../support/program.ts'
import { acceptedId, post } from '../support/submit.ts'
import {
  blockOf,
  genesisOutputs,
  getJson,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  untilCommitted,
  user,
} from '../support/wallet.ts'

/** Gateways that follow a gateway, each with a database of its own. */

let folders: Folder[]
let programs: Program[]
beforeAll(async () => {
  folders = [makeFolder(), makeFolder()]
  programs = []
  programs.push(await startProgram({ DATABASE_URL: folderOf(0).databaseUrl }))
  programs.push(await startFollower(1, [0]))
})
afterAll(async () => {
  for (const program of programs.reverse()) await program.end('SIGTERM')
  for (const folder of folders) folder.remove()
})

function folderOf(index: number): Folder {
  return present(folders[index], 'folder')
}

function urlOf(index: number): string {
  return present(programs[index], 'program').url
}

function startFollower(index: number, of: readonly number[]): Promise<Program> {
  return startProgram({
    DATABASE_URL: folderOf(index).databaseUrl,
    LEDGER: 'upstream',
    UPSTREAM_URLS: of.map(urlOf).join(','),
  })
}

/** Splits a genesis output of a user; gives the slot in which it is booked. */
async function pay(by: number, through: string): Promise<number> {
  const offer = await offerOf(through)
  const key = user(by)
  const spend = present((await genesisOutputs(through, key))[0], 'output')
  const creationSlot = slotNow(offer.network)
  const outputs = [ownedBy(user(by + 1), 400_000_000n), ownedBy(key, 600_000_000n)]
  const payment = paymentOf(offer.network, { key, spend, outputs, creationSlot })
  const { bytes, blockId } = blockOf(offer, payment.payload)
  expect(await acceptedId(await post(through, bytes))).toBe(blockId)
  return creationSlot + 1
}

test('a follower writes the same log', async () => {
  const slot = Math.max(await pay(1, urlOf(0)), await pay(3, urlOf(0)), await pay(5, urlOf(1)))
  await untilCommitted(urlOf(1), slot)
  const upTo = (await getJson(`${urlOf(1)}/api/core/v3/info`)).status.latestFinalizedSlot
  const [told, followed] = [0, 1].map((index) => logTables(folderOf(index).databaseUrl, upTo))
  expect(followed).toEqual(told)
  expect(followed?.ledger_updates.length).toBeGreaterThan(10 + 9)
})
