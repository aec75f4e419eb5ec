import { expect, test } from 'vitest'
import { slotOfId } from '../../src/protocol/ids.ts'
import type { BlockId } from '../../src/protocol/primitives.ts'
import { writeGenesis } from '../support/genesis-gateway.ts'
import { createSettableClock } from '../support/settable-clock.ts'
import { startGateway } from '../support/start-gateway.ts'
import { acceptedId, post, refusal } from '../support/submit.ts'
import {
  blockOf,
  offerOf,
  type SignedBlock,
  taggedData,
  untilCommitted,
} from '../support/wallet.ts'

/** A ledger without regular blocks: the parents are as old as the last block. */

const second = 1_000_000_000n

test('on an idle network only the last block is a valid parent at any age', async () => {
  const clock = createSettableClock(BigInt(Date.now()) * 1_000_000n)
  const genesis = writeGenesis([])
  const gateway = await startGateway({ clock, env: { GENESIS_FILE: genesis.path } })
  const { url } = gateway

  /** Advances the clock in steps, because the gateway ignores a clock that leaps. */
  async function pass(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 10) {
      clock.advance(10n * second)
      const { network } = await offerOf(url)
      const elapsed = clock.nowNs() / second - network.parameters.genesisUnixTimestamp
      await untilCommitted(url, Number(elapsed) - network.parameters.minCommittableAge)
    }
  }

  async function make(parents?: readonly BlockId[]): Promise<SignedBlock> {
    const offer = await offerOf(url)
    clock.advance(1_000n)
    const header = { issuingTime: clock.nowNs() }
    const body = parents === undefined ? {} : { strongParents: parents }
    return blockOf(offer, taggedData('0x', '0x01'), { header, body })
  }

  const first = await make()
  expect(first.block.body.strongParents.map(slotOfId), 'the genesis alone').toEqual([0])
  await acceptedId(await post(url, first.bytes))
  await pass(50)
  expect((await offerOf(url)).strongParents).toEqual([first.blockId])
  const next = await make()
  await acceptedId(await post(url, next.bytes))
  await pass(10)
  expect((await offerOf(url)).strongParents).toEqual([next.blockId])
  const late = await make([first.blockId])
  expect(await refusal(await post(url, late.bytes))).toEqual([
    400,
    expect.stringMatching(`^body: the parent ${first.blockId} is older than slot \\d+$`),
  ])
  await pass(50)
  await acceptedId(await post(url, (await make([next.blockId])).bytes))
  await gateway.close()
  genesis.remove()
}, 120_000)
