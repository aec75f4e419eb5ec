import type { Hex } from '../lib/hex.ts'
import { ImplicitAccountCreationAddress } from '../protocol/addresses.ts'
import { chainIdOf, writtenChainId } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { AccountOutput, BasicOutput, isZero, type Output } from '../protocol/outputs.ts'
import type { OutputId } from '../protocol/primitives.ts'
import { AddressUnlock } from '../protocol/unlock-conditions.ts'
import { conditionOf, type LedgerOutput } from './output-parts.ts'

/** Chains: outputs with an id that the next output of the chain keeps (ledger reference 6). */

/** An output of any kind except basic. */
export type ChainOutput = Exclude<Output, BasicOutput>

/** The chains on both sides of a transaction, each side in order. */
export interface Chains {
  readonly inputs: readonly InputChain[]
  readonly outputs: readonly OutputChain[]
  readonly inputByKey: ReadonlyMap<ChainKey, InputChain>
  readonly outputByKey: ReadonlyMap<ChainKey, OutputChain>
}

/** A chain before the transaction. A basic output here is an implicit account. */
export interface InputChain {
  /** Index in the transaction's inputs. */
  readonly input: number
  readonly key: ChainKey
  readonly id: Hex
  readonly state: Output
}

/** A chain after the transaction. */
export interface OutputChain {
  /** Index in the transaction's outputs. */
  readonly output: number
  /** `undefined` if the id is zero: the chain begins here. */
  readonly key: ChainKey | undefined
  readonly state: ChainOutput
}

/** Kind and id of a chain, as a map key. */
export type ChainKey = `${ChainOutput['type']}${Hex}`

/** Finds the chains among the spent and the created outputs. */
export function chainsOf(spent: readonly LedgerOutput[], created: readonly Output[]): Chains {
  const inputs = inputChains(spent)
  const outputs = outputChains(created)
  // Fast path: most transactions have only basic outputs.
  if (inputs.length === 0 && outputs.length === 0) return noChains
  return {
    inputs,
    outputs,
    inputByKey: new Map(inputs.map((chain) => [chain.key, chain])),
    outputByKey: new Map(
      outputs.flatMap((chain) => (chain.key === undefined ? [] : [[chain.key, chain]])),
    ),
  }
}

const noChains: Chains = {
  inputs: [],
  outputs: [],
  inputByKey: new Map(),
  outputByKey: new Map(),
}

function inputChains(spent: readonly LedgerOutput[]): InputChain[] {
  const chains: InputChain[] = []
  spent.forEach(({ outputId, output }, input) => {
    if (is(BasicOutput, output) && !isImplicitAccount(output)) return
    const id = chainId(output, outputId)
    // An implicit account has the key of the account that it will become.
    const key = chainKey(is(BasicOutput, output) ? AccountOutput.code : output.type, id)
    chains.push({ input, key, id, state: output })
  })
  return chains
}

function outputChains(created: readonly Output[]): OutputChain[] {
  const chains: OutputChain[] = []
  created.forEach((state, output) => {
    if (is(BasicOutput, state)) return
    const id = writtenChainId(state)
    chains.push({
      output,
      key: id === undefined || isZero(id) ? undefined : chainKey(state.type, id),
      state,
    })
  })
  return chains
}

/** Whether an output is an implicit account: a basic output owned by an implicit account creation address. */
export function isImplicitAccount(output: Output): output is BasicOutput {
  return (
    is(BasicOutput, output) &&
    is(ImplicitAccountCreationAddress, conditionOf(output, AddressUnlock)?.address)
  )
}

/** The map key of a chain. */
export function chainKey(type: ChainOutput['type'], id: Hex): ChainKey {
  return `${type}${id}`
}

/** The id of the chain of an output; for an implicit account, the id of the account that it will become. */
export function chainId(output: Output, outputId: OutputId): Hex {
  const written = writtenChainId(output)
  return written === undefined || isZero(written) ? chainIdOf(outputId) : written
}
