import { useSignal } from '@preact/signals'
import { chainTexts } from '../texts-chains.ts'
import { Section } from './facts.tsx'
import { type MetadataEntry, mediaIn } from './metadata-rows.ts'

/**
 * The media of an NFT. What is in the metadata itself is shown after a click. What is elsewhere opens in a tab of its own, for this
 * page asks no other host for anything.
 */

const words = chainTexts.nft

export function Media({ of: entries }: { readonly of: readonly MetadataEntry[] }) {
  const isShown = useSignal(false)
  const address = mediaIn(entries)
  if (address === undefined) return null
  if (!address.startsWith('data:')) return <Elsewhere address={address} />
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

function Elsewhere({ address }: { readonly address: string }) {
  return (
    <Section title={words.media}>
      <a class="button" href={address} target="_blank" rel="noopener noreferrer">
        {words.open(new URL(address).host)}
      </a>{' '}
      <span class="muted">{words.elsewhere}</span>
    </Section>
  )
}
