import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountIdOfKey, slotsBeforeStart } from '../../src/node/embedded/development.ts'
import {
  developmentNetworkName,
  developmentParameters,
} from '../../src/node/embedded/development-parameters.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import { maxSlot } from '../../src/protocol/slots.ts'
import { startGateway, type TestGateway } from './start-gateway.ts'
import { ownedBy, user } from './wallet.ts'

/** A genesis file of a ledger. */
export interface GenesisFile {
  readonly path: string
  remove(): void
}

/** Writes a genesis with the given outputs, an issuer account of user 0, and an output of user 0 with the rest of the supply. */
export function writeGenesis(
  outputs: readonly Output[],
  networkName = developmentNetworkName,
): GenesisFile {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-genesis-'))
  const path = join(folder, 'genesis.json')
  const start = Math.floor(Date.now() / 1000) - slotsBeforeStart
  const parameters = { ...developmentParameters(start), networkName }
  const all = [issuerAccount(), ...outputs]
  const rest = all.reduce((left, { amount }) => left - amount, parameters.tokenSupply)
  const genesis = {
    parameters: print(ProtocolParameters, parameters),
    outputs: [...all, ownedBy(user(0), rest)].map((output) => print(Output, output)),
    credits: { [accountIdOfKey(user(0))]: (2n ** 60n).toString() },
  }
  writeFileSync(path, JSON.stringify(genesis))
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Starts a gateway whose genesis contains the given outputs. */
export async function startFromGenesis(outputs: readonly Output[]): Promise<TestGateway> {
  const file = writeGenesis(outputs)
  const gateway = await startGateway({ env: { GENESIS_FILE: file.path } })
  return {
    ...gateway,
    close: async () => {
      await gateway.close()
      file.remove()
    },
  }
}

function issuerAccount(): Output {
  const { publicKeyHash: pubKeyHash } = user(0)
  return {
    type: 1,
    amount: 100_000_000n,
    mana: 0n,
    accountId: accountIdOfKey(user(0)),
    foundryCounter: 0,
    unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash } }],
    features: [{ type: 6, expirySlot: maxSlot, blockIssuerKeys: [{ type: 0, pubKeyHash }] }],
    immutableFeatures: [],
  }
}
