// A sigstore bundle by @sigstore/verify: verify_sigstore.mjs BUNDLE.sigstore.json PUBLIC.pem FILE. Exit 0 when the key signed
// it, there is a statement in it, and that says that the run of this file passed; else it says why not and exits 1. No log, no time stamp is asked for.
import { createHash, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { bundleFromJSON } from '@sigstore/bundle';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';

const [file, pem, archive] = process.argv.slice(2);
const key = createPublicKey(readFileSync(pem));
const hint = createHash('sha256').update(key.export({ type: 'spki', format: 'der' })).digest('base64');
const root = { mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
  tlogs: [], certificateAuthorities: [], ctlogs: [], timestampAuthorities: [] };

const bundle = bundleFromJSON(JSON.parse(readFileSync(file, 'utf8')));
if (bundle.verificationMaterial.content.publicKey.hint !== hint) throw new Error('the hint is of another key');
const trust = toTrustMaterial(root, () => ({ publicKey: key, validFor: () => true }));
new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, tsaThreshold: 0 }).verify(toSignedEntity(bundle));

const statement = JSON.parse(Buffer.from(bundle.content.dsseEnvelope.payload).toString('utf8'));
const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
if (!statement.subject.some((subject) => subject.digest.sha256 === digest)) throw new Error('it is about another archive');
if (statement.predicate.result !== 'PASSED') throw new Error('the run did not pass');
