import { decodeBech32 } from '../protocol/bech32.ts'
import { type Call, readCall, urlProblems } from './call.ts'
import { type Command, done, failed } from './command.ts'
import { usualUrl } from './declaration.ts'
import { faucetDeclaration } from './declarations/gateway.ts'
import { createGatewayClient } from './gateway-client.ts'
import { networkParameters } from './spend.ts'

/** Gives base tokens of the development network to an address. */
export const faucet: Command = {
  run: async (process, given) => {
    const call = readCall(process, faucetDeclaration, given, problemsOf)
    if (typeof call === 'number') return call
    const { flag } = call
    const [text, amount, url] = [
      call.word(0),
      flag('amount') ?? usualAmount,
      flag('url') ?? usualUrl,
    ]
    const client = createGatewayClient(url.replace(/\/$/, ''))
    try {
      const { bech32Hrp } = await networkParameters(client)
      if (!isOfNetwork(text, bech32Hrp)) {
        const said = `${text} is an address of another network; this one writes ${bech32Hrp}1…`
        process.stderr(`ledger-gateway faucet: ${said}\n`)
        return failed
      }
      const asked = { address: text, amount }
      const { transactionId } = await client.post(`/api/enqueue?wait=${longestWait}`, asked)
      if (typeof transactionId === 'string') {
        const sent = `Sent ${amount} base tokens to ${text} in transaction ${transactionId}.\n`
        call.print(sent, { transactionId, address: text, amount })
        return done
      }
      const said = 'the request waits still, and is paid when its turn comes'
      process.stderr(`ledger-gateway faucet: ${said}\n`)
      return failed
    } catch (failure) {
      // A gateway that is away or refuses says so by an exception, and people want its sentence.
      const reason = failure instanceof Error ? failure.message : 'failed'
      process.stderr(`ledger-gateway faucet: ${url}: ${reason}\n`)
      return failed
    } finally {
      await client.close()
    }
  },
}

/** Base tokens. */
const usualAmount = '1000000000'

function problemsOf({ words: [text], flag }: Call): readonly string[] {
  const isAmount = /^[1-9][0-9]{0,18}$/.test(flag('amount') ?? usualAmount)
  return [
    ...(text !== undefined && !decodeBech32(text).ok ? [`${text} is no Bech32 address`] : []),
    ...(isAmount ? [] : ['--amount must be a whole number above 0']),
    ...urlProblems('--url', flag('url')),
  ]
}

/** Seconds: the gateway answers when the transaction is booked, and at the latest then. */
const longestWait = 60

/** The faucet pays to the bytes alone; the owner of an address of another network would wait for the payment there. */
function isOfNetwork(text: string, hrp: string): boolean {
  return text.toLowerCase().startsWith(`${hrp}1`)
}
