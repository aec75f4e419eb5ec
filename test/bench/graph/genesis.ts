import {
  accountIdOfKey,
  developmentGenesis,
  developmentKeys,
} from '../../../src/node/embedded/development.ts'
import type { GenesisPlan } from '../../../src/node/genesis.ts'
import type { IssuerAccount } from '../../../src/node/issuer.ts'
import type { Keypair } from '../../../src/protocol/keys.ts'
import type { AccountOutput } from '../../../src/protocol/outputs.ts'
import { shortened } from '../../support/ledger-world.ts'
import { keyOf } from '../keys.ts'

/** The genesis of a large ledger: funded users, and validators that also issue the blocks of users. */

const { issuer, faucet } = developmentKeys()

/** The accounts of the validators. The first one is the issuer account of a gateway of the development network. */
export const validators: readonly IssuerAccount[] = [
  issuer,
  ...Array.from({ length: 7 }, (_, n) => keyOf(1_000_000 + n)),
].map((key) => ({ key, accountId: accountIdOfKey(key) }))

/** A genesis at a Unix time in seconds, with one output for each user. */
export function genesisAt(seconds: number, users: readonly Keypair[]): GenesisPlan {
  const { parameters, outputs, credits } = developmentGenesis({ users, issuer, faucet }, seconds)
  const account = outputs.find((output): output is AccountOutput => output.type === 1)
  const [rest, ...others] = outputs
  if (rest === undefined || account === undefined) throw new Error('the genesis lacks an output')
  const more = validators.slice(1).map(({ key }) => ofKey(account, key))
  const given = more.reduce((sum, { amount }) => sum + amount, 0n)
  const funds = { ...rest, amount: rest.amount - given }
  return {
    parameters: shortened({ ...parameters, genesisUnixTimestamp: BigInt(seconds) }),
    outputs: [funds, ...more, ...others],
    credits: new Map([
      ...credits,
      ...validators.map(({ accountId }) => [accountId, 2n ** 63n / 20n] as const),
    ]),
  }
}

/** A copy of an account that another key owns. */
function ofKey(account: AccountOutput, key: Keypair): AccountOutput {
  const { publicKeyHash: pubKeyHash } = key
  return {
    ...account,
    accountId: accountIdOfKey(key),
    unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash } }],
    features: account.features.map((feature) =>
      feature.type === 6 ? { ...feature, blockIssuerKeys: [{ type: 0, pubKeyHash }] } : feature,
    ),
  }
}
