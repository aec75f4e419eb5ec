import { is } from '../protocol/is.ts'
import {
  AccountOutput,
  AnchorOutput,
  BasicOutput,
  DelegationOutput,
  FoundryOutput,
  NftOutput,
} from '../protocol/outputs.ts'
import type { AccountId } from '../protocol/primitives.ts'
import type { InputChain, OutputChain } from './chains.ts'
import type { TransactionError } from './transaction-error.ts'
import { accountBegins, accountChanges, accountEnds } from './transitions/account.ts'
import { anchorBegins, anchorChanges, anchorEnds } from './transitions/anchor.ts'
import { delegationBegins, delegationChanges, delegationEnds } from './transitions/delegation.ts'
import { foundryBegins, foundryChanges, foundryEnds } from './transitions/foundry.ts'
import { implicitAccountChanges, implicitAccountEnds } from './transitions/implicit-account.ts'
import { nftBegins, nftChanges, nftEnds } from './transitions/nft.ts'
import type { WorkingSet } from './working-set.ts'

/** The rules for the change, end and beginning of chains, by kind (ledger reference 6). */

/** Checks the spent chains in the order of the inputs, then the new chains in the order of the outputs. */
export function chainsTransition(set: WorkingSet): TransactionError | undefined {
  const { inputs, outputs, inputByKey, outputByKey } = set.chains
  for (const chain of inputs) {
    const next = outputByKey.get(chain.key)
    const broken = next === undefined ? ends(set, chain) : changes(set, chain, next)
    if (broken !== undefined) return broken
  }
  for (const chain of outputs) {
    if (chain.key !== undefined && inputByKey.has(chain.key)) continue
    const broken = begins(set, chain)
    if (broken !== undefined) return broken
  }
  return undefined
}

/** Both sides have the same kind, because the kind is part of the key. */
function changes(
  set: WorkingSet,
  { input, state: before }: InputChain,
  { output, state: after }: OutputChain,
): TransactionError | undefined {
  const place = { input, output }
  switch (after.type) {
    case AccountOutput.code:
      if (is(BasicOutput, before)) return implicitAccountChanges(set, { ...place, before, after })
      if (is(AccountOutput, before)) return accountChanges(set, { ...place, before, after })
      break
    case AnchorOutput.code:
      if (is(AnchorOutput, before)) return anchorChanges({ ...place, before, after })
      break
    case FoundryOutput.code:
      if (is(FoundryOutput, before)) return foundryChanges(set, { ...place, before, after })
      break
    case NftOutput.code:
      if (is(NftOutput, before)) return nftChanges({ ...place, before, after })
      break
    case DelegationOutput.code:
      if (is(DelegationOutput, before)) return delegationChanges(set, { ...place, before, after })
      break
  }
  throw new Error('assertion failed: a chain changed its kind')
}

function ends(set: WorkingSet, { input, id, state }: InputChain): TransactionError | undefined {
  switch (state.type) {
    case BasicOutput.code:
      return implicitAccountEnds(input)
    case AccountOutput.code:
      return accountEnds(set, { input, state }, id as AccountId)
    case AnchorOutput.code:
      return anchorEnds(set, { input, state })
    case FoundryOutput.code:
      return foundryEnds(set, { input, state })
    case NftOutput.code:
      return nftEnds(set, { input, state })
    case DelegationOutput.code:
      return delegationEnds(set, { input, state })
  }
}

function begins(set: WorkingSet, { output, state }: OutputChain): TransactionError | undefined {
  switch (state.type) {
    case AccountOutput.code:
      return accountBegins(set, { output, state })
    case AnchorOutput.code:
      return anchorBegins(set, { output, state })
    case FoundryOutput.code:
      return foundryBegins(set, { output, state })
    case NftOutput.code:
      return nftBegins(set, { output, state })
    case DelegationOutput.code:
      return delegationBegins(set, { output, state })
  }
}
