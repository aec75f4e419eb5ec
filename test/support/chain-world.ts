import { present } from '../../src/lib/assert.ts'
import type { Hex } from '../../src/lib/hex.ts'
import { chainIdOf, foundryId } from '../../src/protocol/ids.ts'
import type { Output } from '../../src/protocol/outputs.ts'
import type { SlotIndex } from '../../src/protocol/primitives.ts'
import type { ModelOutput } from './balance-model.ts'
import { fundFromFaucet, type LedgerWorld, startWorld, worldParameters } from './ledger-world.ts'
import { makeTransaction, playerOf } from './player.ts'
import { plain } from './player-coins.ts'
import { anyMove, moves } from './player-moves.ts'
import { createRandom } from './random.ts'

/** A ledger with chains of every kind, some of them changed and some destroyed, and the list of these chains. */

/** A chain, as its outputs describe it. */
export interface ModelChain {
  readonly id: Hex
  readonly type: Exclude<Output['type'], 0>
  /** The outputs of the chain, in the order of their booking. */
  readonly states: readonly ModelOutput[]
}

/** A world in which players have created chains. */
export interface ChainWorld {
  readonly world: LedgerWorld
  /** The newest milestone. */
  readonly slot: SlotIndex
  readonly chains: readonly ModelChain[]
}

/** Starts a world. Every player makes one move in every round; then waits until an epoch has ended. */
export async function startChainWorld(size: {
  readonly players: number
  readonly rounds: number
}): Promise<ChainWorld> {
  const world = await startWorld()
  const seats = Array.from({ length: size.players }, (_, n) => {
    return { player: playerOf(n), random: createRandom(n + 7), outputIds: new Set<string>() }
  })
  const funds = seats.map(({ player }) => plain(player.addresses[0], 100_000_000n))
  await fundFromFaucet(world, funds)
  world.outputs.forEach(({ outputId }, n) => {
    seats[n]?.outputIds.add(outputId)
  })
  await world.pass(worldParameters.minCommittableAge)
  for (let round = 0; round < size.rounds; round++) {
    const moment = await world.moment()
    for (const seat of seats) {
      const coins = world.outputs.filter(
        ({ outputId, spentSlot }) => spentSlot === undefined && seat.outputIds.has(outputId),
      )
      const turn = { ...seat, moment, coins }
      // Random moves rarely destroy a foundry.
      const plan = (round === size.rounds - 1 && moves.destroyFoundry?.(turn)) || anyMove(turn)
      if (plan === undefined) continue
      const made = makeTransaction(seat.player, moment, plan)
      await world.submit(moment, made.payload)
      world.note(moment.slot, made)
      for (const { outputId } of made.created) seat.outputIds.add(outputId)
    }
    await world.pass(1)
  }
  const slot = await world.pass(2 ** worldParameters.slotsPerEpochExponent)
  return { world, slot, chains: chainsIn(world.outputs) }
}

/** Groups outputs by the chain id in the output. The first output of a chain has none; its chain id is the hash of its output id. */
function chainsIn(outputs: readonly ModelOutput[]): ModelChain[] {
  const byId = new Map<Hex, { type: ModelChain['type']; states: ModelOutput[] }>()
  for (const one of outputs) {
    const found = chainIn(one)
    if (found === undefined) continue
    const [type, id] = found
    const chain = byId.get(id) ?? { type, states: [] }
    chain.states.push(one)
    byId.set(id, chain)
  }
  return [...byId].map(([id, chain]) => ({ id, ...chain }))
}

function chainIn({ output, outputId }: ModelOutput): [ModelChain['type'], Hex] | undefined {
  const orOwn = (id: Hex) => (/^0x0+$/.test(id) ? chainIdOf(outputId) : id)
  switch (output.type) {
    case 0: {
      const [owner] = output.unlockConditions
      return owner?.type === 0 && owner.address.type === 32 ? [1, chainIdOf(outputId)] : undefined
    }
    case 1:
      return [1, orOwn(output.accountId)]
    case 2:
      return [2, orOwn(output.anchorId)]
    case 3:
      return [3, present(foundryId(output), 'the id of a foundry')]
    case 4:
      return [4, orOwn(output.nftId)]
    case 5:
      return [5, orOwn(output.delegationId)]
  }
}
