import { useSignal } from '@preact/signals'
import { chainTexts } from '../../texts-chains.ts'
import { Section } from '../facts.tsx'
import { type MetadataEntry, mediaIn } from './metadata-rows.ts'

/**
 * The media of an NFT. A picture in the metadata is shown after a click. Media on another server opens in a new tab, because
 * this page sends no requests to other hosts.
 */

const words = chainTexts.nft

export function Media({ of: entries }: { readonly of: readonly MetadataEntry[] }) {
  const isShown = useSignal(false)
  const address = mediaIn(entries)
  if (address === undefined) return null
  if (!address.startsWith('data:')) return <ExternalMedia address={address} />
  return (
    <Section title={words.media}>
      {isShown.value ? (
        <img class="media" src={address} alt={words.picture} />
      ) : (
        <button
          type="button"
          class="button"
          onClick={() => {
            isShown.value = true
          }}
        >
          {words.show}
        </button>
      )}
    </Section>
  )
}

function ExternalMedia({ address }: { readonly address: string }) {
  return (
    <Section title={words.media}>
      <a class="button" href={address} target="_blank" rel="noopener noreferrer">
        {words.open(new URL(address).host)}
      </a>{' '}
      <span class="muted">{words.elsewhere}</span>
    </Section>
  )
}
