import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { document, type FaucetPageData } from '../../generated/explorer/faucet.ts'
import { document as request } from '../../generated/explorer/request-from-faucet.ts'
import { inUnit } from '../format.ts'
import { fieldOf, sendDocument } from '../graphql.ts'
import { baseToken } from '../network.ts'
import type { PageViewProps } from '../page.tsx'
import { sentenceOf } from '../parts/states.tsx'
import { Id } from '../parts/values/id.tsx'
import { toolTexts } from '../texts-tools.ts'
import { toolPage } from '../tool-page.tsx'

/** The tool that requests tokens from the faucet of a development network. The faucet has the key, not this page. */

const words = toolTexts.faucet

export const page = toolPage(document, FaucetPage, {
  title: words.title,
  variables: () => ({}),
  live: () => 'NEVER',
})

type Request =
  | { readonly is: 'NONE' }
  | { readonly is: 'UNDER_WAY' }
  | { readonly is: 'PAID'; readonly address: string; readonly transactionId: string }
  | { readonly is: 'WAITING'; readonly count: number }
  | { readonly is: 'REFUSED'; readonly sentence: string }

function FaucetPage({ data: { network }, place }: PageViewProps<FaucetPageData>) {
  const state = useSignal<Request>({ is: 'NONE' })
  const input = useRef<HTMLInputElement>(null)
  if (network.faucet === null) return <NoFaucet isDevelopment={network.isDevelopment} />
  const submit = async () => {
    const address = input.current?.value.trim() ?? ''
    if (address === '' || state.value.is === 'UNDER_WAY') return
    state.value = { is: 'UNDER_WAY' }
    state.value = await requestTokens(address)
  }
  const { value } = state
  return (
    <>
      <p class="intro">
        {words.intro(inTokens(network.faucet.amount), inTokens(network.faucet.limit))}
      </p>
      <form
        class="paste"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <label for="receiver">{words.address}</label>
        <input
          ref={input}
          id="receiver"
          type="text"
          autocomplete="off"
          spellcheck={false}
          defaultValue={place.query.get('address') ?? ''}
        />
        <p>
          <button type="submit" class="button" disabled={value.is === 'UNDER_WAY'}>
            {words.act}
          </button>
        </p>
      </form>
      <div role="status">
        <Outcome of={value} />
      </div>
    </>
  )
}

function NoFaucet({ isDevelopment }: { readonly isDevelopment: boolean }) {
  return (
    <div class="notice">
      <h2>{words.none}</h2>
      <p>{isDevelopment ? words.noneHere : words.noneOfNetwork}</p>
    </div>
  )
}

function inTokens(amount: string): string {
  const { tickerSymbol, decimals } = baseToken.value
  const { whole, fraction } = inUnit(amount, decimals)
  const significant = fraction.replace(/0+$/, '')
  return `${whole}${significant === '' ? '' : `.${significant}`} ${tickerSymbol}`
}

function Outcome({ of }: { readonly of: Request }) {
  switch (of.is) {
    case 'NONE':
      return null
    case 'UNDER_WAY':
      return <p>{words.waiting}</p>
    case 'WAITING':
      return <p class="verdict">{words.waits(of.count)}</p>
    case 'PAID':
      return (
        <p class="verdict">
          <strong>
            <span aria-hidden="true">✓</span> {words.paid}
          </strong>{' '}
          <Id of="transaction" id={of.transactionId} /> {words.to}{' '}
          <Id of="address" id={of.address} />
        </p>
      )
    case 'REFUSED':
      return (
        <p class="failure">
          <strong>
            <span aria-hidden="true">✕</span> {words.refused}
          </strong>{' '}
          {of.sentence}
        </p>
      )
  }
}

async function requestTokens(address: string): Promise<Request> {
  const paid = fieldOf(await sendDocument(request, { address }), 'requestFromFaucet')
  if (!paid.ok) return { is: 'REFUSED', sentence: sentenceOf(paid.failure) }
  const { transactionId, waitingRequests } = paid.value
  return transactionId === null
    ? { is: 'WAITING', count: waitingRequests }
    : { is: 'PAID', address, transactionId }
}
