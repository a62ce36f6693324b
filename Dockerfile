# One image for every process of Rowcall: the API unless told otherwise, a runner by `node apps/runner/dist/main.js`.

# The manifests alone: as long as they stay the same, a build finds its packages installed.
FROM node:24-bookworm-slim AS manifests
WORKDIR /app
COPY . .
RUN find . -type f ! -name package.json ! -name 'pnpm-*.yaml' -delete \
  && find . -type d -empty -delete

FROM node:24-bookworm-slim AS build
WORKDIR /app
# Nobody answers pnpm's questions.
ENV CI=true
COPY --from=manifests /app .
RUN npm install --global --no-audit --no-fund "$(node -p "require('./package.json').packageManager")"
# The compiler, and what the two apps are made of; not what the other members need, such as the embedded Postgres.
RUN pnpm install --frozen-lockfile --filter rowcall --filter-prod '@rowcall/api...' --filter-prod '@rowcall/runner...'
COPY . .
RUN node_modules/.bin/tsc -b apps/api apps/runner
# Production packages in place of all, then only the members that were built, without their sources.
# The modes do not depend on the umask of whoever cloned the repository.
RUN rm -rf node_modules apps/*/node_modules packages/*/node_modules \
  && pnpm install --frozen-lockfile --offline --prod --filter-prod '@rowcall/api...' --filter-prod '@rowcall/runner...' \
  && for member in apps/* packages/*; do [ -d "$member/dist" ] || rm -rf "$member"; done \
  && rm -rf apps/*/src apps/*/tsconfig.* packages/*/src packages/*/tsconfig.* pnpm-*.yaml \
  && chmod -R u=rwX,go=rX .

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title=rowcall org.opencontainers.image.licenses=Apache-2.0
ENV NODE_ENV=production
WORKDIR /app
# New volumes take the owner of the folder that they are mounted on.
RUN install --directory --owner=node --group=node --mode=700 /run/rowcall /var/lib/rowcall
COPY --from=build /app .
USER node
# As `npm start` has it: packages/process/src/node-options.ts says why.
ENV NODE_OPTIONS="--enable-source-maps --max-old-space-size=2000 --max-semi-space-size=16"
ENV ROWCALL_HOST=0.0.0.0 ROWCALL_DATA_DIR=/var/lib/rowcall
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ROWCALL_PORT || 8787}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "apps/api/dist/main.js"]
