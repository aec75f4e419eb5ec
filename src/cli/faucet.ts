import { messageIn } from '../lib/thrown.ts'
import { decodeBech32 } from '../protocol/bech32.ts'
import { maxUint64 } from '../protocol/primitives.ts'
import { type Call, readCall, urlProblems } from './call.ts'
import { type Command, done, fail } from './command.ts'
import { defaultUrl } from './declaration.ts'
import { faucetDeclaration } from './declarations/gateway.ts'
import { createGatewayClient } from './gateway-client.ts'
import { networkParameters } from './spend.ts'

/** Requests base tokens of the development network for an address. */
export const faucet: Command = {
  run: async (process, given) => {
    const call = readCall(process, faucetDeclaration, given, problemsOf)
    if (typeof call === 'number') return call
    const { flag, signal } = call
    const [text, amount, url] = [
      call.word(0),
      flag('amount') ?? defaultAmount,
      flag('url') ?? defaultUrl,
    ]
    const client = createGatewayClient(url, { signal })
    try {
      const { bech32Hrp } = await networkParameters(client)
      if (!isOfNetwork(text, bech32Hrp)) {
        const problem = `${text} is an address of another network; addresses of this network start with ${bech32Hrp}1`
        return fail(process, 'faucet', problem)
      }
      const request = { address: text, amount }
      const { transactionId } = await client.post(`/api/enqueue?wait=${maxWaitSeconds}`, request)
      if (typeof transactionId === 'string') {
        const sent = `Sent ${amount} base tokens to ${text} in transaction ${transactionId}.\n`
        call.print(sent, { transactionId, address: text, amount })
        return done
      }
      const problem = 'the request is still in the queue of the faucet and will be paid later'
      return fail(process, 'faucet', problem)
    } catch (failure) {
      // The client throws when the gateway is unreachable or refuses the request. Only the message is shown, not the stack.
      return fail(process, 'faucet', `${url}: ${messageIn(failure)}`)
    } finally {
      await client.close()
    }
  },
}

/** Default amount in base tokens. */
const defaultAmount = '1000000000'

function problemsOf({ words: [text], flag }: Call): readonly string[] {
  const amount = flag('amount') ?? defaultAmount
  const isAmount = /^[1-9][0-9]{0,19}$/.test(amount) && BigInt(amount) <= maxUint64
  return [
    ...(text !== undefined && !decodeBech32(text).ok ? [`${text} is not a Bech32 address`] : []),
    ...(isAmount ? [] : [`--amount must be a whole number from 1 to ${maxUint64}`]),
    ...urlProblems('--url', flag('url')),
  ]
}

/** Timeout in seconds. The gateway responds earlier when the transaction is booked. */
const maxWaitSeconds = 60

/** The faucet uses only the bytes of an address. The owner of an address of another network would wait for a payment there. */
function isOfNetwork(text: string, hrp: string): boolean {
  return text.toLowerCase().startsWith(`${hrp}1`)
}
