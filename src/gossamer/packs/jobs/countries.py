"""Countries and what lies in them, as postings write it. A table; `places` reads it."""

from __future__ import annotations

from typing import Final

#: ISO 3166-1 codes and the names of countries, in English and as they call themselves; forms parted by "|".
COUNTRIES: Final = {
    "AD": "Andorra",
    "AE": "United Arab Emirates|UAE|U.A.E.|Emirates|Vereinigte Arabische Emirate", "AF": "Afghanistan",
    "AG": "Antigua and Barbuda|Antigua", "AI": "Anguilla", "AL": "Albania|Shqipëri", "AM": "Armenia", "AO": "Angola",
    "AR": "Argentina", "AS": "American Samoa", "AT": "Austria|Österreich|Autriche", "AU": "Australia", "AW": "Aruba",
    "AZ": "Azerbaijan", "BA": "Bosnia and Herzegovina|Bosnia", "BB": "Barbados", "BD": "Bangladesh",
    "BE": "Belgium|België|Belgique|Belgien", "BF": "Burkina Faso", "BG": "Bulgaria", "BH": "Bahrain", "BI": "Burundi",
    "BJ": "Benin", "BM": "Bermuda", "BN": "Brunei|Brunei Darussalam", "BO": "Bolivia", "BR": "Brazil|Brasil",
    "BS": "Bahamas|The Bahamas", "BT": "Bhutan", "BW": "Botswana", "BY": "Belarus", "BZ": "Belize", "CA": "Canada",
    "CD": "Democratic Republic of the Congo|DR Congo", "CF": "Central African Republic",
    "CG": "Republic of the Congo|Congo", "CH": "Switzerland|Schweiz|Suisse|Svizzera",
    "CI": "Ivory Coast|Côte d'Ivoire|Cote d'Ivoire", "CL": "Chile", "CM": "Cameroon",
    "CN": "China|People's Republic of China|P.R. China|PR China|Mainland China", "CO": "Colombia", "CR": "Costa Rica",
    "CU": "Cuba", "CV": "Cape Verde|Cabo Verde", "CW": "Curaçao|Curacao", "CY": "Cyprus",
    "CZ": "Czech Republic|Czechia|Česko", "DE": "Germany|Deutschland|Allemagne|Alemania", "DJ": "Djibouti",
    "DK": "Denmark|Danmark|Dänemark", "DM": "Dominica", "DO": "Dominican Republic|República Dominicana",
    "DZ": "Algeria|Algérie", "EC": "Ecuador", "EE": "Estonia|Eesti", "EG": "Egypt", "ER": "Eritrea",
    "ES": "Spain|España|Espagne|Spanien|Canary Islands", "ET": "Ethiopia", "FI": "Finland|Suomi|Finnland",
    "FJ": "Fiji", "FM": "Micronesia", "FO": "Faroe Islands", "FR": "France|Frankreich|Francia", "GA": "Gabon",
    "GB": "United Kingdom|Great Britain|Britain|UK|U.K.|England|Scotland|Wales|Northern Ireland|Vereinigtes"
    " Königreich|Royaume-Uni|Reino Unido",
    "GD": "Grenada", "GE": "Georgia|Republic of Georgia", "GG": "Guernsey", "GH": "Ghana", "GI": "Gibraltar",
    "GL": "Greenland", "GM": "Gambia|The Gambia", "GN": "Guinea", "GP": "Guadeloupe", "GQ": "Equatorial Guinea",
    "GR": "Greece|Hellas", "GT": "Guatemala", "GU": "Guam", "GW": "Guinea-Bissau", "GY": "Guyana",
    "HK": "Hong Kong|Hong Kong SAR|Hongkong", "HN": "Honduras", "HR": "Croatia|Hrvatska", "HT": "Haiti",
    "HU": "Hungary|Magyarország|Ungarn", "ID": "Indonesia", "IE": "Ireland|Republic of Ireland|Éire|Irland",
    "IL": "Israel", "IM": "Isle of Man", "IN": "India|Bharat|Pan India|Indien", "IQ": "Iraq", "IR": "Iran",
    "IS": "Iceland|Ísland", "IT": "Italy|Italia|Italien|Italie", "JE": "Jersey|Jersey Channel Islands",
    "JM": "Jamaica", "JO": "Jordan", "JP": "Japan|Nippon", "KE": "Kenya", "KG": "Kyrgyzstan", "KH": "Cambodia",
    "KI": "Kiribati", "KM": "Comoros", "KN": "Saint Kitts and Nevis|St Kitts and Nevis", "KP": "North Korea",
    "KR": "South Korea|Republic of Korea|Korea", "KW": "Kuwait", "KY": "Cayman Islands", "KZ": "Kazakhstan",
    "LA": "Laos", "LB": "Lebanon", "LC": "Saint Lucia|St Lucia", "LI": "Liechtenstein", "LK": "Sri Lanka",
    "LR": "Liberia", "LS": "Lesotho", "LT": "Lithuania|Lietuva", "LU": "Luxembourg|Luxemburg|Lëtzebuerg",
    "LV": "Latvia|Latvija", "LY": "Libya", "MA": "Morocco|Maroc", "MC": "Monaco", "MD": "Moldova", "ME": "Montenegro",
    "MG": "Madagascar", "MH": "Marshall Islands", "MK": "North Macedonia|Macedonia", "ML": "Mali",
    "MM": "Myanmar|Burma", "MN": "Mongolia", "MO": "Macau|Macao", "MQ": "Martinique", "MR": "Mauritania",
    "MT": "Malta", "MU": "Mauritius", "MV": "Maldives", "MW": "Malawi", "MX": "Mexico|México|Mexiko",
    "MY": "Malaysia", "MZ": "Mozambique", "NA": "Namibia", "NC": "New Caledonia", "NE": "Niger", "NG": "Nigeria",
    "NI": "Nicaragua",
    "NL": "Netherlands|The Netherlands|Holland|Nederland|Niederlande|Pays-Bas", "NO": "Norway|Norge|Norwegen",
    "NP": "Nepal", "NR": "Nauru", "NZ": "New Zealand|Aotearoa", "OM": "Oman", "PA": "Panama|Panamá",
    "PE": "Peru|Perú", "PF": "French Polynesia|Tahiti", "PG": "Papua New Guinea", "PH": "Philippines|The Philippines",
    "PK": "Pakistan", "PL": "Poland|Polska|Polen", "PR": "Puerto Rico", "PS": "Palestine", "PT": "Portugal",
    "PW": "Palau", "PY": "Paraguay", "QA": "Qatar", "RE": "Réunion", "RO": "Romania|România|Rumänien",
    "RS": "Serbia|Srbija", "RU": "Russia|Russian Federation", "RW": "Rwanda",
    "SA": "Saudi Arabia|Kingdom of Saudi Arabia|KSA|K.S.A.", "SB": "Solomon Islands", "SC": "Seychelles",
    "SD": "Sudan", "SE": "Sweden|Sverige|Schweden", "SG": "Singapore", "SI": "Slovenia|Slovenija",
    "SK": "Slovakia|Slovensko", "SL": "Sierra Leone", "SM": "San Marino", "SN": "Senegal", "SO": "Somalia",
    "SR": "Suriname", "SS": "South Sudan", "ST": "São Tomé and Príncipe", "SV": "El Salvador",
    "SX": "Sint Maarten|St Maarten", "SY": "Syria", "SZ": "Eswatini|Swaziland",
    "TC": "Turks and Caicos|Turks and Caicos Islands", "TD": "Chad", "TG": "Togo", "TH": "Thailand",
    "TJ": "Tajikistan", "TL": "Timor-Leste|East Timor", "TM": "Turkmenistan", "TN": "Tunisia|Tunisie", "TO": "Tonga",
    "TR": "Turkey|Türkiye|Turkiye|Türkei", "TT": "Trinidad and Tobago|Trinidad", "TW": "Taiwan", "TZ": "Tanzania",
    "UA": "Ukraine", "UG": "Uganda",
    "US": "United States|United States of America|The United States|USA|U.S.A.|U.S.|Vereinigte Staaten|États-Unis"
    "|Estados Unidos",
    "UY": "Uruguay", "UZ": "Uzbekistan", "VA": "Vatican City", "VC": "Saint Vincent", "VE": "Venezuela",
    "VG": "British Virgin Islands", "VI": "US Virgin Islands|U.S. Virgin Islands", "VN": "Vietnam|Viet Nam",
    "VU": "Vanuatu", "WS": "Samoa", "XK": "Kosovo", "YE": "Yemen", "ZA": "South Africa", "ZM": "Zambia",
    "ZW": "Zimbabwe",
}  # fmt: skip

#: Parts of large countries: the letters they are written with, and their names.
STATES: Final = {
    "US": {
        "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California", "CO": "Colorado",
        "CT": "Connecticut", "DE": "Delaware", "DC": "District of Columbia", "FL": "Florida", "GA": "Georgia",
        "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "IA": "Iowa", "KS": "Kansas",
        "KY": "Kentucky", "LA": "Louisiana", "ME": "Maine", "MD": "Maryland", "MA": "Massachusetts", "MI": "Michigan",
        "MN": "Minnesota", "MS": "Mississippi", "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada",
        "NH": "New Hampshire", "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York", "NC": "North Carolina",
        "ND": "North Dakota", "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania",
        "RI": "Rhode Island", "SC": "South Carolina", "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas",
        "UT": "Utah", "VT": "Vermont", "VA": "Virginia", "WA": "Washington", "WV": "West Virginia", "WI": "Wisconsin",
        "WY": "Wyoming",
    },
    "CA": {
        "AB": "Alberta", "BC": "British Columbia", "MB": "Manitoba", "NB": "New Brunswick", "NL": "Newfoundland",
        "NS": "Nova Scotia", "NT": "Northwest Territories", "NU": "Nunavut", "ON": "Ontario",
        "PE": "Prince Edward Island", "QC": "Quebec|Québec", "SK": "Saskatchewan", "YT": "Yukon",
    },
    "AU": {
        "NSW": "New South Wales", "QLD": "Queensland", "SA": "South Australia", "TAS": "Tasmania", "VIC": "Victoria",
        "WA": "Western Australia", "ACT": "Australian Capital Territory", "NT": "Northern Territory",
    },
    "IN": {
        "MH": "Maharashtra", "KA": "Karnataka", "HR": "Haryana", "TG": "Telangana", "GJ": "Gujarat", "KL": "Kerala",
        "UP": "Uttar Pradesh", "WB": "West Bengal", "RJ": "Rajasthan", "AP": "Andhra Pradesh", "TN": "Tamil Nadu",
        "GA": "Goa", "AS": "Assam", "OD": "Odisha",
    },
}  # fmt: skip

#: Cities with airports that people work at, by country. A name that two countries share stands where most mean it.
CITIES: Final = {
    "US": "Atlanta|Austin|Baltimore|Boston|Buffalo|Burbank|Carlsbad|Charleston|Charlotte|Chicago|Cincinnati"
    "|Cleveland|Columbus|Dallas|Fort Worth|Denver|Detroit|Dover|Fort Lauderdale|Fresno|Greensboro|Hayward|Honolulu"
    "|Houston|Indianapolis|Jacksonville|Jersey City|Kansas City|Las Vegas|Long Beach|Los Angeles|Louisville|Memphis"
    "|Miami|Milwaukee|Minneapolis|Monterey|Napa|Nashville|New Orleans|New York City|Newark|Oakland|Oklahoma City"
    "|Omaha|Orlando|Palm Springs|Philadelphia|Phoenix|Pittsburgh|Portland|Raleigh|Reno|Sacramento|Salt Lake City|San"
    " Antonio|San Diego|San Francisco|San Jose|Santa Ana|Savannah|Scottsdale|Seattle|St. Louis|Tampa|Teterboro|Tulsa"
    "|Van Nuys|Washington DC|Washington D.C.|West Palm Beach|White Plains|Wichita|Wilmington",
    "CA": "Calgary|Edmonton|Halifax|Mississauga|Montreal|Montréal|Ottawa|Regina|Toronto|Vancouver|Winnipeg",
    "GB": "Aberdeen|Belfast|Birmingham|Bournemouth|Bristol|Cambridge|Cardiff|Coventry|Crawley|Derby|East Midlands"
    "|Edinburgh|Exeter|Farnborough|Gatwick|Glasgow|Heathrow|Leeds|Liverpool|London|Luton|Manchester|Newcastle"
    "|Norwich|Oxford|Prestwick|Southampton|Southend|Stansted",
    "IE": "Cork|Dublin|Shannon", "FR": "Bordeaux|Lyon|Marseille|Nantes|Nice|Paris|Toulouse",
    "DE": "Berlin|Bremen|Cologne|Köln|Dortmund|Dresden|Düsseldorf|Frankfurt|Hahn|Hamburg|Hannover|Leipzig|Munich"
    "|München|Nuremberg|Nürnberg|Stuttgart",
    "NL": "Amsterdam|Eindhoven|Maastricht|Rotterdam|Schiphol", "BE": "Antwerp|Brussels|Charleroi|Liège|Liege|Ostend",
    "LU": "Findel|Luxembourg City", "CH": "Basel|Bern|Geneva|Genève|Zurich|Zürich",
    "AT": "Graz|Innsbruck|Linz|Salzburg|Vienna|Wien",
    "ES": "Alicante|Barcelona|Bilbao|Ibiza|Las Palmas|Madrid|Malaga|Málaga|Palma de Mallorca|Seville|Tenerife"
    "|Valencia",
    "PT": "Faro|Lisbon|Lisboa|Porto",
    "IT": "Bergamo|Bologna|Milan|Milano|Naples|Rome|Roma|Turin|Venice", "GR": "Athens|Heraklion|Thessaloniki",
    "PL": "Gdansk|Katowice|Krakow|Kraków|Warsaw|Warszawa|Wroclaw", "CZ": "Brno|Prague|Praha", "HU": "Budapest",
    "RO": "Bucharest|Cluj-Napoca|Timisoara", "BG": "Sofia|Varna", "RS": "Belgrade", "HR": "Split|Zagreb",
    "SI": "Ljubljana", "SK": "Bratislava", "LT": "Kaunas|Vilnius", "LV": "Riga", "EE": "Tallinn",
    "FI": "Helsinki|Vantaa", "SE": "Gothenburg|Malmö|Stockholm", "NO": "Bergen|Oslo|Stavanger|Trondheim",
    "DK": "Aarhus|Billund|Copenhagen", "IS": "Keflavik|Reykjavik", "MT": "Luqa|Valletta",
    "CY": "Larnaca|Nicosia|Paphos", "TR": "Ankara|Antalya|Istanbul|İstanbul|Izmir",
    "RU": "Moscow|Saint Petersburg|St Petersburg", "UA": "Kyiv|Kiev|Lviv", "GE": "Batumi|Tbilisi", "AZ": "Baku",
    "AM": "Yerevan", "KZ": "Almaty|Astana", "UZ": "Tashkent", "AE": "Abu Dhabi|Dubai|Ras Al Khaimah|Sharjah|Fujairah",
    "QA": "Doha", "SA": "Dammam|Jeddah|Medina|Riyadh|NEOM", "BH": "Manama|Muharraq", "KW": "Kuwait City",
    "OM": "Muscat|Salalah", "JO": "Amman", "LB": "Beirut", "IL": "Tel Aviv|Jerusalem|Haifa",
    "EG": "Cairo|Hurghada|Sharm El Sheikh", "MA": "Casablanca|Marrakech|Rabat", "TN": "Tunis", "DZ": "Algiers",
    "ET": "Addis Ababa", "KE": "Mombasa|Nairobi", "TZ": "Dar es Salaam|Zanzibar", "UG": "Entebbe|Kampala",
    "RW": "Kigali", "NG": "Abuja|Lagos", "GH": "Accra", "SN": "Dakar", "CI": "Abidjan",
    "ZA": "Cape Town|Durban|Johannesburg|Pretoria", "MU": "Port Louis", "AO": "Luanda",
    "IN": "Ahmedabad|Amritsar|Bangalore|Bengaluru|Bhopal|Bhubaneswar|Chandigarh|Chennai|Cochin|Coimbatore|Delhi|Goa"
    "|Gurgaon|Gurugram|Guwahati|Hyderabad|Indore|Jaipur|Kochi|Kolkata|Lucknow|Mumbai|Nagpur|New Delhi|Noida|Patna"
    "|Pune|Thiruvananthapuram|Trivandrum|Vadodara|Varanasi|Visakhapatnam",
    "PK": "Islamabad|Karachi|Lahore", "BD": "Chittagong|Dhaka", "LK": "Colombo", "NP": "Kathmandu",
    "MV": "Malé|Male City",
    "CN": "Beijing|Chengdu|Guangzhou|Hangzhou|Nanjing|Shanghai|Shenzhen|Tianjin|Xiamen|Xi'an|Zhengzhou",
    "JP": "Fukuoka|Haneda|Nagoya|Narita|Okinawa|Osaka|Sapporo|Tokyo", "KR": "Busan|Incheon|Seoul",
    "TW": "Kaohsiung|Taipei|Taoyuan", "TH": "Bangkok|Chiang Mai|Phuket", "VN": "Da Nang|Hanoi|Ho Chi Minh City",
    "KH": "Phnom Penh|Siem Reap", "MM": "Yangon",
    "MY": "Johor Bahru|Kota Kinabalu|Kuala Lumpur|Kuching|Penang|Sepang|Subang",
    "ID": "Bali|Denpasar|Jakarta|Surabaya", "PH": "Cebu|Clark|Davao|Makati|Manila|Pasay|Quezon City",
    "AU": "Adelaide|Brisbane|Cairns|Canberra|Darwin|Gold Coast|Hobart|Melbourne|Perth|Sydney|Townsville",
    "NZ": "Auckland|Christchurch|Queenstown", "FJ": "Nadi|Suva", "PG": "Port Moresby",
    "MX": "Cancun|Cancún|Ciudad de México|Guadalajara|Mexico City|Monterrey|Playa del Carmen|Tijuana|Toluca",
    "BR": "Brasília|Campinas|Rio de Janeiro|São Paulo|Sao Paulo", "AR": "Buenos Aires|Ezeiza",
    "CL": "Santiago de Chile",
    "CO": "Barranquilla|Bogota|Bogotá|Cali|Cartagena|Medellin|Medellín", "PE": "Cusco|Lima", "EC": "Guayaquil|Quito",
    "PA": "Panama City", "DO": "Punta Cana|Santo Domingo", "JM": "Montego Bay", "BS": "Nassau", "PR": "San Juan",
    "UY": "Montevideo", "VE": "Caracas",
}  # fmt: skip

#: Airports by their IATA codes: read only where they stand as codes do.
AIRPORTS: Final = {
    "US": "ABQ ALB ANC APA ASE ATL BDL BED BFI BHM BNA BOI BOS BUF BUR BWI BZN CAE CHA CHS CLE CLT CMH CVG DAL DAY"
    " DCA DEN DFW DPA DSM DTW EGE ELP EWR FLL FXE GEG GSO GSP GRR HNL HOU HPN IAD IAH ICT ISP JAC JAX JFK LAS LAX"
    " LGA LGB LIT MCI MCO MDW MEM MHT MIA MKE MMU MSN MSP MSY MYR OAK OKC OMA OPF ORD ORF PBI PDX PHL PHX PIT PVD"
    " RDU RIC RNO ROC RSW SAN SAT SAV SBA SDF SDL SEA SFO SJC SLC SMF SNA SRQ STL SUS SYR TEB TPA TUL TUS TYS VNY",
    "CA": "YEG YHZ YOW YQB YQR YUL YVR YWG YXE YYC YYJ YYT YYZ",
    "GB": "ABZ BFS BHX BRS CWL EDI EMA GLA LBA LCY LGW LHR LPL LTN MAN NCL SOU STN", "IE": "DUB ORK SNN",
    "FR": "BOD CDG LBG LYS MRS NCE ORY TLS", "DE": "BER CGN DUS FRA HAM HAJ HHN LEJ MUC NUE STR",
    "NL": "AMS EIN MST RTM", "BE": "BRU CRL LGG OST", "LU": "LUX", "CH": "BSL GVA ZRH", "AT": "VIE SZG",
    "ES": "AGP ALC BCN MAD PMI TFS VLC", "PT": "FAO LIS OPO", "IT": "BGY FCO LIN MXP VCE", "GR": "ATH",
    "PL": "KRK WAW", "CZ": "PRG", "HU": "BUD", "RO": "OTP", "FI": "HEL", "SE": "ARN GOT", "NO": "BGO OSL",
    "DK": "BLL CPH", "IS": "KEF", "TR": "ESB IST SAW", "AE": "AUH DWC DXB SHJ", "QA": "DOH", "SA": "JED RUH DMM",
    "BH": "BAH", "KW": "KWI", "OM": "MCT", "IL": "TLV", "EG": "CAI", "MA": "CMN", "ET": "ADD", "KE": "NBO",
    "NG": "LOS", "ZA": "CPT JNB",
    "IN": "AMD ATQ BLR BOM CCU COK DEL GOI HYD IXC JAI LKO MAA NAG PNQ TRV", "PK": "ISB KHI LHE", "BD": "DAC",
    "LK": "CMB", "CN": "CGO CTU HGH PEK PKX PVG SZX", "HK": "HKG", "JP": "HND KIX NRT NGO", "KR": "GMP ICN",
    "TW": "TPE", "TH": "BKK DMK HKT", "VN": "HAN SGN", "MY": "KUL PEN SZB", "SG": "SIN XSP", "ID": "CGK DPS",
    "PH": "CEB CRK MNL", "AU": "ADL BNE MEL PER SYD", "NZ": "AKL CHC", "MX": "CUN GDL MEX TLC", "BR": "GIG GRU VCP",
    "AR": "EZE", "CL": "SCL", "CO": "BOG", "PE": "LIM", "PA": "PTY", "CR": "SJO",
}  # fmt: skip

#: Three capitals that mean the country itself.
THREE_LETTERS: Final = {
    "USA": "US", "CAN": "CA", "GBR": "GB", "AUS": "AU", "IND": "IN", "DEU": "DE", "ARE": "AE", "NZL": "NZ",
}  # fmt: skip
