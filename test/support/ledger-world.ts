import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../src/config.ts'
import { present } from '../../src/lib/assert.ts'
import { developmentKeys } from '../../src/node/embedded/development.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { deriveParameters } from '../../src/protocol/derive-parameters.ts'
import { slotOfId } from '../../src/protocol/ids.ts'
import type { BasicOutput, Output } from '../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import type { BlockId, CommitmentId, OutputId, SlotIndex } from '../../src/protocol/primitives.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import type { Payload } from '../../src/protocol/transaction.ts'
import type { ModelOutput } from './balance-model.ts'
import { graphql } from './client.ts'
import { createSettableClock } from './settable-clock.ts'
import { startGateway, type TestGateway } from './start-gateway.ts'
import { acceptedId, post } from './submit.ts'
import { until } from './until.ts'
import { blockOf, issuer, type Offer, offerOf, paymentOf, type SignedPayment } from './wallet.ts'

/** A gateway with a settable clock, and a record of everything that happened in its ledger. */
export interface LedgerWorld {
  readonly gateway: TestGateway
  /** Every output of the world except those of the genesis. */
  readonly outputs: ModelOutput[]
  /** Returns the output of an id. */
  output(id: OutputId): ModelOutput | undefined
  /** The current slot, with the commitment that transactions refer to. */
  moment(): Promise<Moment>
  /** Submits a block with a payload in the slot of a moment, and returns the id of the block. The issuer of the development network issues it by default. */
  submit(moment: Moment, payload: Payload, by?: Issuer): Promise<BlockId>
  /** Records the effects of a transaction that was booked in a slot. */
  note(slot: SlotIndex, transaction: Effects): void
  /** Advances the clock by some slots, and waits until the slot `minCommittableAge` before the new one is committed. Returns that slot. */
  pass(slots: number): Promise<SlotIndex>
  close(): Promise<void>
}

/** The slot and the commitment that a transaction is made for. */
export interface Moment {
  readonly offer: Offer
  readonly slot: SlotIndex
  readonly commitmentId: CommitmentId
  /** The slot of the commitment. */
  readonly committed: SlotIndex
}

/** An account that issues blocks, and its key. */
export type Issuer = typeof issuer

/** The outputs that a transaction spends and creates. */
export interface Effects {
  readonly spent: readonly OutputId[]
  readonly created: readonly { readonly outputId: OutputId; readonly output: Output }[]
}

/** Short epochs and a small `maxCommittableAge`, so that a test reaches both sides of an expiration within a few slots. */
export const worldParameters: ProtocolParameters = shortened(developmentParameters(1_700_000_000))

/** The slot in which the world starts; it is in epoch 1. */
export const firstSlot = 70

/** Returns the parameters with short epochs. */
export function shortened(usual: ProtocolParameters): ProtocolParameters {
  const slotsPerEpochExponent = 6
  const { manaParameters, rewardsParameters, tokenSupply, slotDurationInSeconds } = usual
  const derived = deriveParameters({
    ...manaParameters,
    slotsPerEpochExponent,
    slotDurationInSeconds,
    tokenSupply,
    rewardToGenerationRatio: rewardsParameters.rewardToGenerationRatio,
    decayFactorsLimit: 384,
  })
  const { decayFactors, decayFactorEpochsSum, decayFactorEpochsSumExponent, ...rewards } = derived
  return {
    ...usual,
    networkName: 'ledger-world',
    slotsPerEpochExponent,
    maxCommittableAge: 6,
    manaParameters: {
      ...manaParameters,
      decayFactors,
      decayFactorEpochsSum,
      decayFactorEpochsSumExponent,
    },
    rewardsParameters: { ...rewardsParameters, ...rewards },
  }
}

/** Starts a world. */
export async function startWorld(env: Environment = {}): Promise<LedgerWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-world-'))
  const file = join(folder, 'parameters.json')
  writeFileSync(file, JSON.stringify(print(ProtocolParameters, worldParameters)))
  const clock = createSettableClock(timeOf(firstSlot))
  // The limits per client are those of the development network, because a test sends more requests than one client may.
  const free = {
    CLIENT_COST: '100000000',
    CLIENT_CONNECTIONS: '10000',
    CLIENT_PAYLOADS: '1000000',
    MAX_LOOP_DELAY: '0',
  }
  // Without state memory, each slot reads the state that it needs from the database.
  const ledger = { PARAMETERS_FILE: file, STATE_MEMORY: '0' }
  const gateway = await startGateway({ clock, env: { ...free, ...ledger, ...env } })
  const outputs: ModelOutput[] = []
  const placeById = new Map<OutputId, number>()
  let slot = firstSlot
  let issued = 0n

  async function moment(): Promise<Moment> {
    const offer = await offerOf(gateway.url)
    const { slotCommitmentId: commitmentId } = offer.header
    const committed = slotOfId(commitmentId)
    return { offer, slot, commitmentId, committed }
  }

  async function submit({ offer }: Moment, payload: Payload, by = issuer): Promise<BlockId> {
    // Gives each block of a moment a different issuing time, which is not before those of its parents. Without the time of the clock it
    // may be in a slot of old parents, and then too early for the commitment of the moment.
    for (const time of [clock.nowNs(), offer.header.issuingTime]) if (time > issued) issued = time
    issued += 1n
    const header = { issuerId: by.accountId, issuingTime: issued }
    const { bytes, blockId } = blockOf(offer, payload, { key: by.key, header })
    await acceptedId(await post(gateway.url, bytes))
    return blockId
  }

  function note(bookedSlot: SlotIndex, { spent, created }: Effects): void {
    for (const id of spent) {
      const place = placeById.get(id)
      const former = place === undefined ? undefined : outputs[place]
      if (place !== undefined && former !== undefined) {
        outputs[place] = { ...former, spentSlot: bookedSlot }
      }
    }
    for (const { outputId, output } of created) {
      placeById.set(outputId, outputs.length)
      outputs.push({ outputId, output, bookedSlot })
    }
  }

  async function pass(slots: number): Promise<SlotIndex> {
    slot += slots
    clock.advance(timeOf(slot) - clock.nowNs())
    const due = slot - worldParameters.minCommittableAge
    const newest = async () => {
      const { data } = await graphql(gateway.url, '{ milestone { index } }')
      return data.milestone.index
    }
    await until(async () => (await newest()) >= due, { what: `slot ${due} is committed` })
    return due
  }

  async function close(): Promise<void> {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  }

  function output(id: OutputId): ModelOutput | undefined {
    const place = placeById.get(id)
    return place === undefined ? undefined : outputs[place]
  }

  return { gateway, outputs, output, moment, submit, note, pass, close }
}

/** The time half a second after the start of a slot, in nanoseconds. */
function timeOf(slot: SlotIndex): bigint {
  const seconds = worldParameters.genesisUnixTimestamp + BigInt(slot) - 1n
  return seconds * 1_000_000_000n + 500_000_000n
}

/** Creates outputs from the funds of the faucet, in as many transactions as necessary. */
export async function fundFromFaucet(
  world: LedgerWorld,
  outputs: readonly BasicOutput[],
): Promise<void> {
  const { faucet } = developmentKeys()
  const { data } = await graphql(
    world.gateway.url,
    '{ unspentOutputs(filter: { kinds: [BASIC] }, first: 1) { nodes { outputId amount } } }',
  )
  const [genesis] = data.unspentOutputs.nodes
  let spend: OutputId = genesis.outputId
  let left = BigInt(genesis.amount)
  for (let at = 0; at < outputs.length; at += outputsPerTransaction) {
    const some = outputs.slice(at, at + outputsPerTransaction)
    left -= some.reduce((sum, { amount }) => sum + amount, 0n)
    const address = { type: 0, pubKeyHash: faucet.publicKeyHash } as const
    const rest: BasicOutput = {
      ...{ type: 0, amount: left, mana: 0n, features: [] },
      unlockConditions: [{ type: 0, address }],
    }
    const moment = await world.moment()
    const all = [rest, ...some]
    const { network } = moment.offer
    const creationSlot = moment.slot
    const made: SignedPayment = paymentOf(network, {
      spend,
      key: faucet,
      outputs: all,
      creationSlot,
    })
    await world.submit(moment, made.payload)
    const created = made.created.map((outputId, i) => ({
      outputId,
      output: present(all[i], 'a created output'),
    }))
    world.note(moment.slot, { spent: [], created: created.slice(1) })
    spend = present(created[0], 'the rest').outputId
    // The next transaction spends the remainder of this one.
    await world.pass(1)
  }
}

const outputsPerTransaction = 100
