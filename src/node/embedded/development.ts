import { Ed25519Address } from '../../protocol/addresses.ts'
import { BlockIssuer, BlockIssuerKey, Staking } from '../../protocol/features.ts'
import { type Keypair, walletOf } from '../../protocol/keys.ts'
import { AccountOutput, type Output, plainOutput } from '../../protocol/outputs.ts'
import type { AccountId } from '../../protocol/primitives.ts'
import { maxSlot } from '../../protocol/slots.ts'
import { AddressUnlock } from '../../protocol/unlock-conditions.ts'
import type { GenesisPlan } from '../genesis.ts'
import { opensslSigner } from '../openssl-signer.ts'
import { developmentParameters, tokenSupply } from './development-parameters.ts'

/** The network of a gateway without a genesis file. Its funds belong to public keys. */

/** The mnemonic of the official SDK's examples. Its funds are worthless because the keys are public. */
export const developmentMnemonic =
  'endorse answer radar about source reunion marriage tag sausage weekend frost daring base attack because joke dream slender leisure group reason prepare broken river'

/** Number of funded addresses, from index 0. Each holds `fundedAmount` in one basic output. */
export const fundedAddresses = 10

/** Base tokens per funded address. */
export const fundedAmount = 1_000_000_000n

/**
 * Number of slots before the first start. The official SDK refuses commitment inputs in the first `maxCommittableAge` slots.
 */
export const slotsBeforeStart = 64

export interface DevelopmentKeys {
  /** The keys of the funded addresses. Key 0 is also the key of a block issuer account. */
  readonly users: readonly Keypair[]
  /** The key of the node's own issuer account. */
  readonly issuer: Keypair
  readonly faucet: Keypair
}

let keys: DevelopmentKeys | undefined

/** Derives the keys on the first call, which takes about 15 ms. */
export function developmentKeys(): DevelopmentKeys {
  keys ??= deriveKeys()
  return keys
}

function deriveKeys(): DevelopmentKeys {
  const wallet = walletOf(developmentMnemonic, opensslSigner)
  return {
    users: Array.from({ length: fundedAddresses }, (_, index) => wallet.keypair(0, index)),
    issuer: wallet.keypair(1, 0),
    faucet: wallet.keypair(2, 0),
  }
}

/** The id of an account of the development network: H(public key), as in the node's preset. */
export function accountIdOfKey(key: Keypair): AccountId {
  return key.publicKeyHash as AccountId
}

/** The genesis of the development network for a first start at `startSeconds`, a Unix time in seconds. */
export function developmentGenesis(keys: DevelopmentKeys, startSeconds: number): GenesisPlan {
  const [firstUser] = keys.users
  const issuers = firstUser === undefined ? [keys.issuer] : [keys.issuer, firstUser]
  const accounts = issuers.map((key) =>
    key === keys.issuer ? validatorAccount(key) : issuerAccount(key),
  )
  const funds = keys.users.map((user) => basicOutput(user, fundedAmount, 0n))
  const spent = [...accounts, ...funds].reduce((sum, { amount }) => sum + amount, 0n)
  const faucet = basicOutput(keys.faucet, tokenSupply - spent, 2n ** 63n / 100n)
  const outputs: Output[] = [faucet, ...accounts, ...funds]
  return {
    parameters: developmentParameters(startSeconds - slotsBeforeStart),
    outputs,
    credits: new Map(issuers.map((key) => [accountIdOfKey(key), 2n ** 63n / 5n])),
  }
}

function basicOutput({ publicKeyHash: pubKeyHash }: Keypair, amount: bigint, mana: bigint) {
  return plainOutput({ type: Ed25519Address.code, pubKeyHash }, amount, mana)
}

const issuerAmount = 100_000_000n

/** An account that may issue blocks without expiry. */
function issuerAccount(key: Keypair): AccountOutput {
  const { publicKeyHash: pubKeyHash } = key
  return {
    type: AccountOutput.code,
    amount: issuerAmount,
    mana: 0n,
    accountId: accountIdOfKey(key),
    foundryCounter: 0,
    unlockConditions: [
      { type: AddressUnlock.code, address: { type: Ed25519Address.code, pubKeyHash } },
    ],
    features: [
      {
        type: BlockIssuer.code,
        expirySlot: maxSlot,
        blockIssuerKeys: [{ type: BlockIssuerKey.code, pubKeyHash }],
      },
    ],
    immutableFeatures: [],
  }
}

/** The node's own account. It stakes all its tokens, so that it is a validator. */
function validatorAccount(key: Keypair): AccountOutput {
  const account = issuerAccount(key)
  const staking: Staking = {
    type: Staking.code,
    stakedAmount: issuerAmount,
    fixedCost: 0n,
    startEpoch: 0,
    endEpoch: maxSlot,
  }
  return { ...account, features: [...account.features, staking] }
}
