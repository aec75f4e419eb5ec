// Pays base tokens of the development network with the official SDK: node pay.mjs URL ADDRESS AMOUNT
// Key 1 of the published mnemonic pays; the block is issued by the account of key 0, whose id is the hash of its public key.
import {
  AddressUnlockCondition,
  Client,
  SecretManager,
  SignatureUnlock,
  SignedTransactionPayload,
  Transaction,
  UTXOInput,
  Utils,
} from '@iota/sdk-wasm/node/lib/index.js'

const [url, receiver, amount] = process.argv.slice(2)
const mnemonic =
  'endorse answer radar about source reunion marriage tag sausage weekend frost daring base attack because joke dream slender leisure group reason prepare broken river'

const client = await Client.create({ nodes: [url] })
const parameters = await client.getProtocolParameters()
const secrets = SecretManager.create({ mnemonic })
const key = (addressIndex) => ({ coinType: 4218, account: 0, change: 0, addressIndex })
const [issuer, payer] = await secrets.generateEd25519Addresses({
  coinType: 4218,
  accountIndex: 0,
  range: { start: 0, end: 2 },
  bech32Hrp: parameters.bech32Hrp,
})

// The newest output of the payer: its base tokens, and its mana in the slot of the transaction.
const { items } = await client.basicOutputIds({
  address: payer,
  hasExpiration: false,
  hasTimelock: false,
})
const outputId = items.at(-1)
const { output } = await client.getOutput(outputId)
const transactionId = Utils.transactionIdFromOutputId(outputId)
const { slot } = (await client.getIssuance()).latestCommitment
const held = Utils.outputManaWithDecay(
  output,
  Utils.computeSlotIndex(transactionId),
  slot,
  parameters,
)
const mana = BigInt(held.stored) + BigInt(held.potential)

const outputTo = (address, amount, mana) =>
  client.buildBasicOutput({
    amount: `${amount}`,
    mana: `${mana}`,
    unlockConditions: [new AddressUnlockCondition(Utils.parseBech32Address(address))],
  })
const outputs = [
  await outputTo(receiver, amount, 0n),
  await outputTo(payer, BigInt(output.amount) - BigInt(amount), mana),
]
const input = new UTXOInput(transactionId, Utils.outputIndexFromOutputId(outputId))
const transaction = new Transaction(await client.getNetworkId(), slot, [], [input], [], outputs)
const signature = await secrets.signEd25519(Utils.transactionSigningHash(transaction), key(1))
const payload = new SignedTransactionPayload(transaction, [new SignatureUnlock(signature)])

const { pubKeyHash } = Utils.parseBech32Address(issuer)
const block = await secrets.signBlock(await client.buildBasicBlock(pubKeyHash, payload), key(0))
console.log(`block ${await client.postBlock(block)}, transaction ${Utils.transactionId(payload)}`)
