import { createHash } from 'node:crypto'
import { chainId } from '../../src/ledger/chains.ts'
import { present } from '../../src/lib/assert.ts'
import type { Hex } from '../../src/lib/hex.ts'
import type { Address, Ed25519Address } from '../../src/protocol/addresses.ts'
import {
  addressKey,
  identifyTransaction,
  indexOf,
  outputId,
  transactionOf,
} from '../../src/protocol/ids.ts'
import { type Keypair, keypairOf } from '../../src/protocol/keys.ts'
import type { Output } from '../../src/protocol/outputs.ts'
import type { AccountId, OutputId } from '../../src/protocol/primitives.ts'
import type { SignedTransaction, Transaction } from '../../src/protocol/transaction.ts'
import type { Unlock } from '../../src/protocol/unlocks.ts'
import type { ModelOutput } from './balance-model.ts'
import type { Effects, Moment } from './ledger-world.ts'

/** A user with three keys who moves outputs between them. */
export interface Player {
  readonly keys: readonly [Keypair, Keypair, Keypair]
  readonly addresses: readonly [Ed25519Address, Ed25519Address, Ed25519Address]
}

/** The player of a number; its keys are derived from the number. */
export function playerOf(n: number): Player {
  const key = (i: number) => keypairOf(createHash('sha256').update(`player ${n} ${i}`).digest())
  const keys = [key(0), key(1), key(2)] as const
  const address = ({ publicKeyHash: pubKeyHash }: Keypair) => ({ type: 0, pubKeyHash }) as const
  return { keys, addresses: [address(keys[0]), address(keys[1]), address(keys[2])] }
}

/** An output to spend, and the address that its unlock must unlock. */
export interface Spend {
  readonly coin: ModelOutput
  readonly by: Address
}

/** The plan of a transaction. Its base tokens balance. */
export interface Plan {
  /** The name of the move, for error messages. */
  readonly name: string
  /** The inputs. An output that a chain owns comes after the output of that chain. */
  readonly spends: readonly Spend[]
  readonly outputs: readonly Output[]
  /** The accounts of the block issuance credit inputs. */
  readonly credits: readonly AccountId[]
  /** The indices of the inputs whose rewards the transaction claims. */
  readonly rewards: readonly number[]
}

/** A signed transaction with its effects. */
export interface MadeTransaction extends Effects {
  readonly payload: SignedTransaction
}

/** Creates and signs the transaction of a plan, with all capabilities to burn and destroy. */
export function makeTransaction(player: Player, moment: Moment, plan: Plan): MadeTransaction {
  const transaction: Transaction = {
    networkId: moment.offer.network.id,
    creationSlot: moment.slot,
    contextInputs: [
      { type: 0, commitmentId: moment.commitmentId },
      ...[...plan.credits].sort().map((accountId) => ({ type: 1, accountId }) as const),
      ...plan.rewards.map((index) => ({ type: 2, index }) as const),
    ],
    inputs: plan.spends.map(({ coin }) => ({
      type: 0,
      transactionId: transactionOf(coin.outputId),
      transactionOutputIndex: indexOf(coin.outputId),
    })),
    allotments: [],
    capabilities: '0x3f',
    payload: undefined,
    outputs: plan.outputs,
  }
  const { signingHash, transactionId } = identifyTransaction(transaction)
  return {
    payload: { type: 1, transaction, unlocks: unlocksOf(player, plan, signingHash) },
    spent: plan.spends.map(({ coin }) => coin.outputId),
    created: plan.outputs.map((output, i) => ({ outputId: outputId(transactionId, i), output })),
  }
}

function unlocksOf(player: Player, { spends }: Plan, signingHash: Uint8Array): Unlock[] {
  const inputByKey = new Map<Hex, number>()
  return spends.map(({ by }, input): Unlock => {
    if (by.type !== 0 && by.type !== 32) return chainUnlock(spends, by)
    const signed = inputByKey.get(by.pubKeyHash)
    if (signed !== undefined) return { type: 1, reference: signed }
    inputByKey.set(by.pubKeyHash, input)
    const key = player.keys.find(({ publicKeyHash }) => publicKeyHash === by.pubKeyHash)
    return { type: 0, signature: present(key, 'a key of the player').sign(signingHash) }
  })
}

function chainUnlock(spends: readonly Spend[], by: Address): Unlock {
  const reference = spends.findIndex(({ coin }) => addressOfChain(coin) === addressKey(by))
  if (by.type === 8) return { type: 2, reference }
  if (by.type === 24) return { type: 3, reference }
  return { type: 4, reference }
}

/** The key of the address that belongs to an account or an NFT. */
export function addressOfChain({ output, outputId: id }: ModelOutput): Hex | undefined {
  const address = chainAddress(output, id)
  return address && addressKey(address)
}

/** The address that belongs to an account or an NFT. */
export function chainAddress(output: Output, id: OutputId): Address | undefined {
  const chain = chainId(output, id)
  if (output.type === 1) return { type: 8, accountId: chain as AccountId }
  if (output.type === 4) return { type: 16, nftId: chain as typeof output.nftId }
  return undefined
}
